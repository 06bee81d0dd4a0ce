"""What each code means and how it is cured: the words of docs/reference/errors.md.

`DERIVED` says which codes a code made from parts can be.
"""

from __future__ import annotations

PAGE = """
# Errors

Whatever fails says what happened and where, a code that never changes, and the cure:

```text
error: default/narrative 'x' has another text; an id is never used for a second note [id_taken]
hint: save under another id, or without one
```

With `--json` it is one object on standard error:
`{"error": {"code": "…", "message": "…", "hint": "…"}}`. In Python it is an exception:

```python
import holdfast

with holdfast.open("memory") as vault:
    notes = vault.space().notes()
    notes.save("a fact", id="x")
    try:
        notes.save("another", id="x")
    except holdfast.HoldfastError as error:
        assert error.code == "id_taken"
        assert error.message and error.hint
```

The class says what kind of failure it is and stands in `holdfast.errors`; all derive from
`HoldfastError`. No error shows a key or the text of a memory.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; or `verify` found something |
| 2 | the words of the command line are wrong; nothing was read or changed |
| 130 | interrupted |
"""

DERIVED = {
    "{what}_invalid": ["key_invalid", "namespace_invalid"],
    "{what}_too_long": ["key_too_long", "namespace_too_long"],
    "process_{state}": [
        "process_created",
        "process_running",
        "process_paused",
        "process_terminated",
        "process_crashed",
    ],
}

WORDS = {
    # The two files of a profile
    "answer_unknown": ("nobody asks for that", "use the names that the hint lists"),
    "answers_missing": ("onboarding without an answer", "give one"),
    "batch_invalid": ("a step of a batch does not have the form of one", "see the hint"),
    "batch_repeats": ("a batch adds one text twice", "leave one of them out"),
    "entry_pinned": ("a review would change what is pinned", "nothing; people change it"),
    "entry_too_large": (
        "an entry alone is larger than its file may be",
        "say it shorter, or keep it as a record or an artifact",
    ),
    "file_unknown": ("a profile has two files", "say USER or MEMORY"),
    "profile_full": (
        "pinned entries, or those of the change itself, leave no room",
        "unpin or remove one, or say it shorter",
    ),
    "editor_failed": (
        "the editor could not be started, or said that it failed; nothing was changed",
        "set VISUAL or EDITOR to one that waits until the file is closed",
    ),
    "nothing_to_remember": ("a question was given to be remembered", "say the fact itself"),
    "profile_file_edited": (
        "an export would write over a file with edits that were not read in",
        "`holdfast profile sync` takes them in",
    ),
    "profile_file_empty": (
        "an edited file has no entries; nothing was changed",
        "say `--empty` if all of them should go",
    ),
    "profile_file_failed": (
        "a file of a profile cannot be read or written; nothing was taken for removed",
        "see to the file, and try again",
    ),
    "profile_file_moved": ("a file was changed while it was read", "sync again"),
    "profile_file_of_another": (
        "the file was written for another user",
        "say which with `--user`, or use another folder",
    ),
    "profile_file_too_full": (
        "an edited file has more characters than there is room for; nothing was changed",
        "make it shorter",
    ),
    "profile_file_too_large": ("the file is far too large for one of a profile", "shorten it"),
    "reset_unknown": ("there is no reset to take back", "look into the archive"),
    # Records
    "confidence_invalid": ("a confidence is no number from 0 to 1", "give one, such as 0.8"),
    "depth_invalid": ("neighbours can be walked to a depth of 1 to 5", "give such a depth"),
    "field_not_found": (
        "a structured body has no field of that path; it says how far it came",
        "name fields from the outside in: `deploy.steps[0]`, or `/deploy/a.b/0`",
    ),
    "forget_moved": (
        "a query finds other records now than those that it said it would forget",
        "ask again without the confirmation, and look",
    ),
    "kind_unknown": (
        "a store of records has no such kind",
        "use one that the error names, or register it in workspace.yml",
    ),
    "layer_unknown": ("there is no such layer", "semantic, procedural or episodic"),
    "origin_refused": (
        "a draft came from where the preferences trust only a person to promote it",
        "promote it as a person, or set `promotion.origins`",
    ),
    "query_empty": ("a query to forget by says nothing", "say what to look for"),
    "record_contradicts": (
        "another record of this kind and subject says something else, and does not give way",
        "say that the new one supersedes it, or update that one",
    ),
    "record_exists": (
        "after the update two records would say the same",
        "forget one of them, or say what is different",
    ),
    "record_forgotten": (
        "what is added was forgotten before, and no reviewer, agent or import brings it back",
        "a person may add it again: `holdfast record add`",
    ),
    "record_near": (
        "a record says nearly the same, and `write.near` refuses that",
        "update the one that is there",
    ),
    "record_not_found": ("no record meets the query", "ask with other words"),
    "records_refused": (
        "`write.start` is refused, so nothing new is remembered",
        "set it to draft or confirmed",
    ),
    "ref_not_found": (
        "a reference leads to no record of the store",
        "refer to records of the same store, by their ids",
    ),
    "refs_invalid": ("a record refers to too many others", "refer to fewer"),
    "section_ambiguous": (
        "several sections fit the path",
        "say more of the path, or which of them: `Setup[2]`",
    ),
    "section_invalid": ("the path of a section or field is empty", "such as `Setup > Linux`"),
    "section_not_found": ("the body has no such section", "use one that the error names"),
    "source_invalid": ("a source is too long, or no Unicode text", "name it in a line"),
    "subject_invalid": ("a subject is no line of 1 to 200 printable characters", "shorten it"),
    "support_missing": (
        "a draft has fewer updates and corroborations than `promotion.support` asks for",
        "update it, or add the same fact again, then promote it",
    ),
    "tags_invalid": ("tags are no list of at most 100 words", "give a list"),
    "version_first": ("a record has said nothing else before", "there is nothing to go back to"),
    "version_not_found": (
        "a record has no version of that revision, or it says nothing",
        "`holdfast record history` lists them",
    ),
    # The words of a command line
    "argument_missing": ("the command needs an argument or option that is not there", "add it"),
    "argument_unexpected": (
        "the command takes no such word",
        "put text of several words in quotes",
    ),
    "command_missing": ("the noun needs a verb", "`holdfast help NOUN` lists its verbs"),
    "command_unknown": ("there is no such noun or verb", "`holdfast help` lists them"),
    "option_misplaced": ("the option has no meaning for this command", "leave it out"),
    "option_repeated": ("an option, or a key of metadata, is given twice", "keep one"),
    "option_unknown": (
        "the command has no such option",
        "text that begins with a dash goes after `--`",
    ),
    "search_invalid": (
        "a search was asked in a way, or in a state, that there is not",
        "use one of those that the hint names",
    ),
    "session_missing": ("`session end` was not told which session", "give its id, or `--session`"),
    "stdin_twice": ("two arguments are `-`, and there is one standard input", "keep one `-`"),
    "value_invalid": ("a value is not of its form", "the hint says which form"),
    "value_missing": ("an option stands without its value", "write `--option VALUE`"),
    "value_not_utf8": ("the bytes of an argument are not UTF-8", "convert them"),
    "value_unwanted": ("a flag was given a value", "write the flag alone"),
    # What was given is not of its form
    "skill_description_invalid": (
        "a skill's description is empty, or has more than 1,024 characters",
        "say what it does and when to use it",
    ),
    "skill_document_invalid": (
        "a SKILL.md is not as it must be: the message says the file, the line and the field",
        "mend that line",
    ),
    "skill_file_binary": ("the file of a skill is not text", "give the whole file anew"),
    "skill_folder_empty": ("there is no SKILL.md in the folder or below it", "name another"),
    "skill_folder_unnamed": ("the space has no folder, so it has no `skills/`", "name a folder"),
    "skill_incomplete": ("a new skill lacks a description or a body", "give both"),
    "skill_name_invalid": (
        "the name of a skill is 1 to 64 of `a-z 0-9 - _ .`, alphanumeric at both ends",
        "rename it",
    ),
    "skill_path_invalid": (
        "the path of a file leaves its skill, or cannot lie beside another on every machine",
        "give a path inside the skill",
    ),
    "skill_too_large": ("a skill has too many files, or too large ones", "keep them elsewhere"),
    "config_invalid": (
        "`.holdfast/storage.yaml` does not say what it should",
        "two lines, `name: my-notes` and `type: memory`",
    ),
    "actor_invalid": (
        "an actor is not `kind:name`, or of no known kind",
        "such as `agent:planner`",
    ),
    "backend_unfit": ("a backend lacks methods that it declares", "declare what it has"),
    "batch_key_twice": ("two operations of one batch name one key", "one operation a key"),
    "budget_invalid": ("a context of less than one token was asked for", "ask for 1 or more"),
    "checkpoint_invalid": ("the file is no checkpoint", "name one that `checkpoint` wrote"),
    "clock_differs": ("two kernels with different clocks use one backend", "give them one clock"),
    "copy_onto_itself": ("source and target of a copy are one", "name another target"),
    "calls_invalid": (
        "a message's tool calls are too many, too large or not JSON",
        "say it in several messages, with plain arguments",
    ),
    "cursor_invalid": ("no page gave this cursor", "use the one that the page before gave"),
    "directory_name_invalid": (
        "a directory's name is not 3 to 64 of `a-z 0-9 -`",
        "choose another name",
    ),
    "handler_invalid": ("an agent's handler cannot be called", "give a function"),
    "home_unknown": (
        "this user has no home folder to keep a vault in",
        "name the vault with `--vault` or `HOLDFAST_VAULT`",
    ),
    "id_invalid": ("an id is empty, too long or not printable", "use a short word: `deploy-day`"),
    "ignore_too_large": ("a `.holdfastignore` is too large", "shorten it"),
    "key_invalid": (
        "the key of a vault, of a value or of a call is not of its form",
        "the hint says which form",
    ),
    "key_too_long": ("the key of a value is too long", "keep long text in the value"),
    "label_invalid": (
        "the name of a person, agent or session is no short printable line",
        "shorten it",
    ),
    "importance_invalid": (
        "an importance is not a whole number from 0 to 100",
        "0 is the least, 50 what an entry has by itself, 100 the most",
    ),
    "limit_invalid": ("less than one, or too much, was asked for", "ask for less, in pages"),
    "metadata_invalid": (
        "metadata is not JSON with text keys",
        "use text, numbers, lists, objects",
    ),
    "metadata_too_large": ("metadata is over its limit", "keep long text in the note"),
    "name_invalid": (
        "the name of a space or store is not 1 to 64 of `a-z 0-9 - _`",
        "choose another name",
    ),
    "name_reserved": ("the name is a word of ours", "choose another name"),
    "namespace_invalid": ("the namespace of values is no text", "give UTF-8 text without NUL"),
    "namespace_too_long": ("the namespace of values is too long", "shorten it"),
    "not_awaitable": ("`ctx.wait` was given something else than a coroutine", "call it first"),
    "mount_broken": (
        "a mount leads to a store that is gone, or no longer shared",
        "mount another, or take it away",
    ),
    "mount_filter": (
        "a mount would not show what was to be written through it",
        "write what its scope and filter show",
    ),
    "mount_not_found": ("`workspace.yml` declares no such mount", "`holdfast space show`"),
    "mount_read_only": (
        "the store is mounted to be read only",
        "write to a store of the space's own, or mount it with `mode: rw`",
    ),
    "space_without_file": (
        "the space has no `workspace.yml`, in which mounts stand",
        "`holdfast space init` makes one",
    ),
    "workspace_changed": ("`workspace.yml` was changed meanwhile", "do it again"),
    "arguments_invalid": (
        "a tool was called with arguments that it does not take, or of other types",
        "the hint says what it takes",
    ),
    "option_invalid": ("an option of a declared store is wrong", "the hint says what it takes"),
    "artifact_too_large": (
        "a content is larger than its store takes",
        "keep it as a directory of type `artifact`",
    ),
    "content_empty": ("there is no content to save", "give one"),
    "content_invalid": ("a content is neither text nor bytes", "encode it first"),
    "tokenizer_invalid": (
        "`context.tokenizer` names no tokenizer",
        "`estimate`, `tiktoken:ENCODING` or `tokenizers:FILE`",
    ),
    "range_invalid": ("a range of lines or bytes is not of its form", "as `10-20` or `10-`"),
    "order_invalid": ("there is no such order", "`newest` or `oldest`"),
    "origin_invalid": ("there is no such origin", "user, agent, tool, web or import"),
    "path_invalid": ("a path in a tree leaves it, or is not of its form", "give a relative path"),
    "path_twice": ("a path stands twice in a tree", "give each path once"),
    "prefix_invalid": ("a prefix is no text", "leave it out to list all"),
    "reason_too_long": ("the reason for a change is too long", "shorten it"),
    "stdin_not_utf8": ("standard input is not UTF-8", "convert it"),
    "expect_unheeded": (
        "a revision was expected of a call that changes no one thing that has one",
        "leave it out",
    ),
    "revision_invalid": ("the revision is no number from 0", "give the one that you saw"),
    "seq_invalid": ("the seq is no number that a change can have", "`holdfast log` shows them"),
    "place_invalid": ("a session has no such place", "`holdfast session show` prints them"),
    "role_invalid": ("there is no such role", "the hint lists them"),
    "state_invalid": ("there is no such state", "the hint lists them"),
    "text_invalid": ("what should be text is something else", "give a str"),
    "time_out_of_range": (
        "the time lies outside the years 1 to 9999",
        "give the one that was meant",
    ),
    "strategy_unknown": ("there is no such strategy", "the hint lists them"),
    "text_empty": ("there is nothing to remember in the text", "say what is to be remembered"),
    "text_not_unicode": ("the text holds half of a character", "decode it as UTF-8"),
    "tokens_invalid": ("a model reports less than no tokens", "leave the report out"),
    "suggestion_unsound": (
        "a reviewer suggested what its evidence does not bear",
        "nothing: it was dropped",
    ),
    "text_too_long": ("the text is over its limit", "keep it as a file and note a line about it"),
    "time_invalid": ("a time is no aware `datetime`", "such as `datetime.now(UTC)`"),
    "times_reversed": ("a record would end before it begins", "let `until` be later than `since`"),
    "time_without_zone": ("a time says no zone, so it could be any moment", "give it one"),
    "timeout_invalid": ("a timeout is not more than 0 seconds", "leave it out to wait for ever"),
    "ttl_invalid": ("a time to live is not more than 0 seconds", "leave it out to keep the value"),
    "value_not_json": (
        "the value would not come back equal",
        "use None, bool, int, float, str, list, dict",
    ),
    "value_not_number": ("an increment of what is no number", "set a number first"),
    "value_not_text": ("the value is not text, and text was asked for", "leave `--text` out"),
    "value_too_large": ("the value is over its limit", "keep large content in a file"),
    "version_invalid": ("this is no version's name", "such as `v12`, 8 hex digits or `latest`"),
    "version_too_short": ("too few digits of a version's name", "give 8 or more"),
    "where_invalid": ("no vault can live there", "a folder or `sqlite:///file.db`"),
    "workspace_encoding": ("`workspace.yml` is not UTF-8", "save it as UTF-8"),
    "scope_invalid": ("there is no such scope, or a task is missing", "give one of those named"),
    "preference_invalid": (
        "a preference is not what it can be; file and field are named",
        "write what it takes, or take it back with `holdfast preferences set NAME`",
    ),
    "preference_unknown": ("there is no such preference", "`holdfast preferences show`"),
    "preferences_unreadable": (
        "the file of the preferences cannot be read or written",
        "check its permissions and the room on the disk",
    ),
    "workspace_invalid": (
        "`workspace.yml` declares something wrong; file, line and field are named",
        "correct that line",
    ),
    "workspace_too_large": ("`workspace.yml` is too large", "shorten it"),
    "workspace_unreadable": ("`workspace.yml` cannot be read", "check its permissions"),
    "workspace_yaml": ("`workspace.yml` is no YAML", "check indentation, quotes and colons"),
    # What was named is not there
    "strategy_missing": (
        "no package offers the strategy that a store has",
        "install the package that does",
    ),
    "skill_file_not_found": ("the skill has no such file", "`holdfast skill show` lists them"),
    "skill_folder_not_found": ("there is no such folder of skills", "name one that is there"),
    "skill_not_found": ("the store has no such skill", "`holdfast skill list` shows them"),
    "text_not_found": ("the text to replace does not stand there", "give it as it stands there"),
    "directory_not_found": (
        "there is no such directory, or nothing was pushed yet",
        "`list` shows what is there; `push` in its folder makes it",
    ),
    "folder_not_initialised": (
        "the folder is not a versioned directory",
        "`init` makes it one, `clone NAME` brings one",
    ),
    "agent_unknown": (
        "no agent of this name is declared, or registered with the kernel",
        "`holdfast agent list` shows those that there are",
    ),
    "change_not_found": ("the log has no change of that seq", "`holdfast log` lists them"),
    "artifact_gone": (
        "the artifact was forgotten, or lapsed because nothing referred to it",
        "save the content again, and note its id where it is to last",
    ),
    "artifact_not_found": ("the store has no artifact of that id", "`holdfast artifact get`"),
    "entry_not_found": ("the store has no entry of that id", "list what is there"),
    "entry_not_yet": ("the entry was not there at that moment", "ask for a later moment"),
    "folder_not_found": ("there is no such folder", "make it first"),
    "message_not_found": ("there is no such message", "`holdfast session search`"),
    "process_unknown": ("the kernel has no such process", "spawn one"),
    "proposal_not_found": ("there is no such proposal", "`holdfast review inbox`"),
    "session_not_found": (
        "there is no such session, or it is of another user",
        "`holdfast session list`; `--user` says whose",
    ),
    "space_not_found": ("the vault has no such space", "`holdfast space init` makes one"),
    "store_not_declared": (
        "the space declares no such store",
        "use one of those named, or declare it",
    ),
    "store_unnamed": (
        "the space has several stores of the strategy, or none",
        "say which, with `--store`; where there is none, add one to `memory.own` in workspace.yml",
    ),
    "tool_not_for_store": (
        "the tool is not for stores of that strategy",
        "name a store that it is for",
    ),
    "value_not_found": ("the namespace has no such key", "`holdfast kv list` lists the keys"),
    "vault_not_found": ("there is no vault there", "name another, or `holdfast init`"),
    "version_unknown": ("there is no such version", "list the versions"),
    "workspace_not_found": (
        "no `workspace.yml` in this folder or above it",
        "`holdfast space init`",
    ),
    "entry_ambiguous": ("the short id fits several entries", "use a whole id"),
    "proposal_ambiguous": ("the short id fits several proposals", "use a whole id"),
    "session_ambiguous": ("the short id fits several sessions", "use a whole id"),
    "version_ambiguous": ("the digits fit several versions", "give more of them"),
    # Somebody was there first
    "skill_conflict": (
        "a skill changed in the mirrored folder and in the store",
        "import or export it with `--overwrite`",
    ),
    "skill_exists": ("the store has another skill of that name", "`--overwrite` replaces it"),
    "skill_folder_differs": ("the folder holds another skill", "`--overwrite` replaces it"),
    "skill_taken": ("a suggested skill has the name of another", "change that one"),
    "skill_twice": ("two folders hold skills of one name", "rename one of them"),
    "text_ambiguous": ("the text to replace stands there several times", "give more of it"),
    "directory_deleted": ("the directory was deleted while it was pushed", "push again"),
    "folder_other_name": ("the folder is of a directory with another name", "use another folder"),
    "folder_other_type": ("the folder is of a directory of another type", "use that type's noun"),
    "vault_other": (
        "the folder's history is of another vault, and this one never had it",
        "name the right vault, mount its disk, or begin anew with `--force`",
    ),
    "head_moving": ("others changed the directory all the time", "do it again when it is quieter"),
    "agent_name_taken": ("another agent is registered under the name", "register under another"),
    "answer_outdated": (
        "the call was made before, and its answer was kept by another version",
        "read what is there now",
    ),
    "copy_conflict": (
        "the target of a copy has other values",
        "`overwrite=True`, or another target",
    ),
    "entry_forgotten": ("the entry was forgotten", "save it anew"),
    "id_taken": ("the id has another text, or was forgotten", "save under another id"),
    "key_reused": (
        "the idempotency key came with other arguments, or for another user",
        "a new key for a new call",
    ),
    "proposal_decided": ("the proposal was decided before", "make the change itself"),
    "proposal_stale": (
        "what the proposal would change has changed since",
        "look at what is there now",
    ),
    "process_live": ("a process of the name is live", "terminate it, or give another name"),
    "revision_moved": (
        "it changed since the revision that was expected",
        "read it again, then decide",
    ),
    "session_over": ("the session has ended, or its lease ran out", "start another"),
    "space_named": ("the folder's `workspace.yml` names another space", "leave `--name` out"),
    "store_strategy": ("the store is of another strategy", "declare another store"),
    "value_changed": (
        "the value changed since the revision that was expected",
        "read it again, then decide",
    ),
    # A rule forbids it
    "plugin_broken": (
        "the strategy of a package cannot be loaded",
        "update or uninstall that package",
    ),
    "plugin_clash": ("two packages offer one strategy, or one that is built in", "keep one"),
    "plugin_unfit": ("what a package offers is no strategy", "update or uninstall that package"),
    "mirror_empty": (
        "the mirrored folder has no skills any more, and all would be forgotten",
        "remove its `.holdfast/skills.json` to have them written again",
    ),
    "mirror_unsure": (
        "a skill is gone from a folder where others cannot be read",
        "mend those first",
    ),
    "skill_forgotten": ("an import would bring back a skill that was deleted", "`--anyway`"),
    "skill_near": ("there is a skill that is nearly the same", "change that one, or `--anyway`"),
    "skill_renamed": ("a patch would turn a skill into another", "save it under the new name"),
    "destination_not_empty": ("a clone goes into an empty or a new folder", "name another"),
    "layout_impossible": (
        "the file system takes two names for one, or cannot hold a name",
        "rename one of them where it came from",
    ),
    "path_blocked": ("a link or file stands where a folder belongs", "move it away"),
    "confirmation_needed": ("this asks first, and nobody is there to answer", "add `--yes`"),
    "key_file_exposed": ("other users may read the key file", "`chmod 600` it"),
    "person_needed": ("only a person decides on a proposal", "decide without `--agent`"),
    "budget_spent": (
        "a call of a model would be over a budget",
        "wait for the next day, or raise the budget",
    ),
    "file_not_found": ("there is no such file or folder", "check the path"),
    "file_unreadable": ("the file cannot be read", "check its permissions"),
    "format_invalid": (
        "nobody known writes conversations so",
        "`auto`, `jsonl`, `claude-code` or `codex`",
    ),
    "review_not_found": ("there is no such review", "`holdfast review list` shows their numbers"),
    "store_withdrawn": ("the store is no longer declared", "declare it again in `workspace.yml`"),
    "suggestion_misplaced": ("the store keeps no entries", "name one that does"),
    "lifecycle_refused": ("the entry's state does not allow that", "only a draft can be promoted"),
    "name_of_agent": ("the name belongs to another agent", "ask for another name"),
    "write_held": (
        "screening found something in what was to be written, and holds it for a person",
        "approve the proposal that it names, or write it again without what was found",
    ),
    "note_too_old": ("a short-term store would let go of the note at once", "a long-term store"),
    "not_confirmed": ("the question was not answered with yes", "nothing was changed"),
    "past_is_fixed": ("an earlier moment cannot be written", "write to the space as it is now"),
    "process_created": ("the process is being made", "wait for `spawn`"),
    "process_inside_itself": (
        "a handler cannot execute or end its own process",
        "do it from outside",
    ),
    "process_paused": ("the process is paused", "resume it"),
    "process_running": ("the process runs already", "nothing needs to be done"),
    "process_terminated": ("the process was terminated", "spawn the agent again"),
    "processes_max": ("the kernel has as many processes as it may", "terminate one"),
    "quota": (
        "the namespace would be over its limit of bytes",
        "delete values, or raise the limit",
    ),
    "session_elsewhere": ("the session belongs to another space", "start one in this space"),
    "session_needed": ("the store lives as long as a session, and none is named", "`--session`"),
    "space_elsewhere": (
        "the space belongs to another folder",
        "rename this one, or `holdfast space adopt`",
    ),
    "storage_nested": ("a unit of work called the vault again", "use what the unit was given"),
    "storage_only_reads": ("a unit that only reads tried to write", "write with `write`"),
    "tree_too_large": ("files or a tree are over their limit", "ignore some, or raise the limit"),
    "messages_as_now": ("what was said is read as it is now", "ask for a time instead"),
    "values_without_past": ("values keep no history", "read them as they are now"),
    "vault_in_ram": ("`memory:` would be gone when the command ends", "name a folder"),
    # Keys
    "key_file_unreadable": ("the key file cannot be read", "name one that exists"),
    "key_missing": (
        "the vault is encrypted, and no key was given",
        "`HOLDFAST_KEY` or `--key-file`",
    ),
    "key_not_needed": ("a key was given, and the vault is plain or in memory", "open it without"),
    "key_refused": ("the cipher did not take the key", "see that the file can be written"),
    "key_wrong": ("the key does not fit the vault", "give the key that it was made with"),
    "keyring_failed": (
        "the system's keyring did not answer",
        "unlock it, or give the key otherwise",
    ),
    "keyring_missing": (
        "the package that reads the keyring is not installed",
        "`pip install 'holdfast[keyring]'`",
    ),
    # Stored bytes
    "content_missing": ("a content that an entry names is not stored", "write it again"),
    "log_lost": (
        "the file or its `-wal` is missing or damaged, and acknowledged writes with it",
        "restore a backup",
    ),
    "log_missing": (
        "the vault's file stands without its `-wal` file",
        "bring the whole folder; the hint says how to go on without",
    ),
    "not_a_vault": ("the file is another program's database", "name another place"),
    "object_missing": (
        "stored content is not there",
        "push a folder that has it, or restore a backup",
    ),
    "row_damaged": ("a row does not say what was written", "`holdfast verify` names it"),
    "folder_damaged": ("a stored folder is not what was written", "`holdfast verify`"),
    "migrations_broken": ("the program's own schema steps are not complete", "install it again"),
    "object_damaged": (
        "stored content is not what was written",
        "push the same content again, or restore a backup",
    ),
    "recipe_damaged": ("the recipe of a large file is damaged", "`holdfast verify`"),
    "schema_differs": ("the vault was made by an unreleased version", "open it with that one"),
    "value_unreadable": ("a stored value is no JSON", "set it again"),
    "vault_damaged": (
        "stored bytes are not what was written, or it is no vault",
        "`holdfast verify`, then a backup",
    ),
    # The disk and the machine
    "config_unreadable": ("`.holdfast/storage.yaml` cannot be read", "check its permissions"),
    "file_changing": (
        "a file changes while it is read",
        "push again when its writer has finished, or ignore it",
    ),
    "folder_failed": (
        "a working folder could not be read or written",
        "see that there is room, and that it is yours",
    ),
    "batch_half_written": (
        "a backend without transactions failed in a batch",
        "write the batch again",
    ),
    "checkpoint_not_read": ("a checkpoint could not be read", "check the file"),
    "checkpoint_not_written": ("a checkpoint could not be written", "check the folder"),
    "copy_not_equal": ("after copying, source and target differ", "copy again while nobody writes"),
    "demo_failed": ("a step of the demo failed", "report it"),
    "tokenizer_missing": (
        "the tokenizer that `context.tokenizer` names is not here",
        "install it, or set `context.tokenizer` to `estimate`",
    ),
    "extra_missing": (
        "a library that is not installed by default is needed",
        "install the extra that the hint names",
    ),
    "folder_unreadable": (
        "the folder that the command runs in is gone or closed",
        "go to another folder",
    ),
    "internal": ("a mistake of ours", "report it; `HOLDFAST_DEBUG=1` shows more"),
    "output_failed": ("the output could not be written", "free some space"),
    "storage_busy": ("another program holds the database", "close it"),
    "storage_cannot_open": ("the file cannot be opened", "see that it is a file, and yours"),
    "storage_full": ("the disk is full", "free some space, then do it again"),
    "vault_gone": (
        "the open vault was deleted or moved, or its disk went away",
        "bring it back and open it again",
    ),
    "storage_io": (
        "reading or writing the disk failed",
        "look at the system's log, then `holdfast verify`",
    ),
    "storage_permission": ("this user may not open the file", "give it the right to"),
    "storage_readonly": ("the disk or file cannot be written", "mount it writable"),
    "storage_rolled_back": ("the commit was undone; nothing was written", "do it again"),
    "workspace_not_written": (
        "`workspace.yml` could not be written",
        "check the folder's permissions",
    ),
    # Not here
    "postgres_not_installed": (
        "the package `psycopg` is missing",
        "`pip install 'holdfast[team]'`",
    ),
    "redis_cluster": ("Redis runs as a cluster", "use a single server"),
    "redis_not_installed": ("the package `redis` is missing", "`pip install 'holdfast[team]'`"),
    "index_newer": ("the vault was indexed by a newer version", "update this one"),
    "namespaces_unknown": ("the backend cannot list its namespaces", "say which to copy"),
    "place_no_log": ("the file system does not let SQLite keep its log", "use a local disk"),
    "place_remote": ("the folder is on a network file system", "use a local disk"),
    "schema_newer": ("the vault was written by a newer version", "update this one"),
    "stats_async_only": ("the backend answers only when awaited", "`await stats_async()`"),
    "two_event_loops": (
        "two event loops write to one backend without transactions",
        "use one loop",
    ),
    "wait_in_loop": ("`ctx.wait` in an async handler", "use `await`"),
    "sdk_not_installed": (
        "the SDK of a model's service is missing",
        "`pip install 'holdfast[llm]'`",
    ),
    # Language models
    "model_answer_cut": ("the model's answer was cut off", "choose a model that says less"),
    "model_answer_invalid": (
        "the model's answer is not of the form that was asked for",
        "`model.answers` set to `json`, or another model; the rules review meanwhile",
    ),
    "model_declined": ("the model declines to answer", "another model"),
    "model_denied": ("the service refuses the key", "check the variable that holds it"),
    "model_failing": ("the service fails", "wait; the rules review meanwhile"),
    "model_key_missing": (
        "the variable that `model.key_env` names holds no usable key",
        "export it, or name another",
    ),
    "model_limited": ("the service is asked too often", "wait; the rules review meanwhile"),
    "model_request_refused": (
        "the service does not know the model, the address or the form",
        "check `model.name`, `model.base_url` and `model.answers`",
    ),
    "model_settings_invalid": (
        "a setting of the model cannot work, or would show the key",
        "the hint says what it takes",
    ),
    "model_timed_out": ("the service did not answer in time", "raise `model.timeout_s`, or wait"),
    "model_unreachable": (
        "the service cannot be reached, or broke off",
        "check `model.base_url`; the rules review meanwhile",
    ),
    # Over
    "backend_closed": ("the backend was closed", "open it again"),
    "execution_over": ("the execution has ended", "it can do nothing more"),
    "kernel_closed": ("the kernel was shut down", "make another"),
    "memory_closed": ("the process of this memory has ended", "spawn the agent again"),
    "vault_closed": ("the vault was closed", "open it again"),
    "vault_forked": ("the vault was opened before the process forked", "open it in this process"),
    # Agents and runs
    "agent_exists": (
        "an agent of that name is declared otherwise",
        "remove it first, or choose another name",
    ),
    "agent_folder_not_found": (
        "the folder in which the agent starts is gone",
        "declare the agent again in the folder that it belongs to",
    ),
    "agent_invalid": ("an agent's declaration is not of its form", "the message says which field"),
    "agent_name_invalid": (
        "an agent's name must be one that its memory may bear",
        "3 to 64 of a-z 0-9 -, with letters or digits at the ends, and no --",
    ),
    "agent_not_started": (
        "the system did not start the agent's command",
        "see that there are memory and processes to spare, and no NUL character in a word",
    ),
    "agents_in_file": (
        "the space declares its agents in a `workspace.yml`",
        "change `agents:` there, or use `holdfast agent` in that folder",
    ),
    "command_too_long": (
        "a word of the agent's command is longer than the system allows",
        "hand the prompt over in a file: `{prompt_file}`",
    ),
    "env_file_invalid": (
        "a line of the file of variables is not `NAME=value`",
        "write one variable a line; `#` begins a comment",
    ),
    "env_file_unreadable": ("the file of variables cannot be read", "check its path and encoding"),
    "options_exclude": ("two options that exclude each other", "keep one of them"),
    "place_empty": (
        "the agent's command asks for a directory that this run has not",
        "give it with --memory or --artifact, or declare it",
    ),
    "program_not_executable": (
        "the agent's program cannot be executed",
        "make it executable, or name its interpreter first",
    ),
    "program_not_found": (
        "there is no such program",
        "install it, give its whole path, or check the first line of the script",
    ),
    "run_ambiguous": ("the short form fits several runs", "use a whole id"),
    "run_mount_invalid": (
        "a directory for a run is not written as one",
        "write NAME, NAME:VERSION, NAME:/path or NAME:VERSION:/path",
    ),
    "run_mounts_overlap": (
        "two directories of a run would lie at one place, or one in the other",
        "give each a path of its own",
    ),
    "run_not_found": ("the space has no such run", "`holdfast run list` shows them"),
    "run_open": (
        "the run is not over, so nothing can go on from it",
        "wait for its end: `holdfast run logs RUN --follow`",
    ),
    "secret_too_short": (
        "a secret of fewer than 4 characters would be found in all kinds of text",
        "give it with `--var` if it is no secret",
    ),
    "secrets_unknown": (
        "a run that was killed had secrets, and what it wrote cannot be searched for them any more",
        "look through its folder by hand, and push what has none",
    ),
    "template_unknown": (
        "`${{ … }}` with something else than `vars` or `secrets`",
        "write `${{ vars.NAME }}` or `${{ secrets.NAME }}`",
    ),
    "timeout_of_callable": (
        "a function in this process cannot be ended when its time is over",
        "declare a command for what may have to be ended",
    ),
    "variable_missing": (
        "the agent asks for a variable or secret that was not given",
        "`--var`, `--secret`, `--env-file`, or the environment",
    ),
    "variable_name_invalid": (
        "not a name for a variable",
        "letters, digits and _, and no digit first",
    ),
    "variable_reserved": (
        "names that begin with `HOLDFAST_` are set by Holdfast itself",
        "choose another name",
    ),
    # Executions
    "process_crashed": ("the handler raised, or an earlier one did", "`process.error` says why"),
    "process_stopped": ("the handler was stopped", "spawn the agent again"),
    "process_timeout": ("the handler ran out of time", "give it more, or less to do"),
}

PROBLEMS = {
    "count_differs": ("a count is not that of the rows", "`holdfast doctor --repair`"),
    "index_differs": (
        "the full-text index has other words than a row",
        "`holdfast doctor --repair`",
    ),
    "references_differ": (
        "references to artifacts are not those that entries and messages have",
        "`holdfast doctor --repair`",
    ),
    "references_unreadable": (
        "references to artifacts cannot be read",
        "`holdfast doctor --repair`",
    ),
    "links_differ": (
        "the links between entries are not those that their rows have",
        "`holdfast doctor --repair`",
    ),
    "holdings_differ": (
        "the contents that an entry holds are not those that the log says",
        "`holdfast doctor --repair`",
    ),
    "plugin_unusable": ("a package's strategy cannot be used", "update or uninstall it"),
    "holdings_unreadable": ("what entries hold cannot be read", "`holdfast doctor --repair`"),
    "links_unreadable": (
        "the links between entries cannot be read",
        "`holdfast doctor --repair`",
    ),
    "index_unreadable": ("the full-text index cannot be read", "`holdfast doctor --repair`"),
    "log_gap": ("a change is missing from the log", "restore a backup"),
    "log_lacks_row": ("a row has no change in the log", "restore a backup"),
    "object_damaged": ("stored content is not what was written, or is missing", "restore a backup"),
    "row_damaged": (
        "a row does not say what was written",
        "`holdfast doctor --repair`, for a change a backup",
    ),
    "row_differs": ("a row is not what the log says of it", "`holdfast doctor --repair`"),
    "row_missing": ("the log has a row that is not there", "`holdfast doctor --repair`"),
    "row_stale": ("a row is older than its newest change", "`holdfast doctor --repair`"),
    "row_unreadable": ("a row cannot be read", "restore a backup"),
    "schema_altered": ("tables are not as the program makes them", "restore a backup"),
    "schema_unreadable": ("the schema cannot be read", "restore a backup"),
    "seal_broken": ("changes under a seal were altered", "restore a backup"),
    "structure_damaged": ("SQLite finds the file's structure broken", "restore a backup"),
}

ADVICE = {
    "mount_lost": (
        "what was declared takes away a store that another space mounts",
        "share or declare it again, or tell who mounts it",
    ),
    "note_is_document": ("more than 500 characters", "keep it as a file, and note a line about it"),
    "note_long": ("more than 100 characters", "shorten it"),
    "skill_long": (
        "the body has more than 500 lines or 5,000 tokens",
        "move details into files under references/",
    ),
    "note_many_facts": (
        "several facts in one note",
        "save each, so that each can be found and removed",
    ),
    "note_preamble": ("it begins with words such as “The user said that”", "say the fact itself"),
    "mirror_behind": (
        "the write was done, but the files in the workspace could not be brought along",
        "see to what the message says, then `holdfast profile sync`",
    ),
    "profile_file_encoding": (
        "some bytes of an edited file were no UTF-8, and were read as Windows writes them",
        "look at what became of them",
    ),
    "profile_filling": ("a file is 80 % full", "join entries that belong together"),
    "profile_nearly_full": (
        "a file is 90 % full",
        "join or remove entries, or the least important go to the archive",
    ),
    "note_undated": ("“tomorrow” means another day on the day after", "add the date: (2026-03-01)"),
}
