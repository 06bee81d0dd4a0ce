"""Completion: the shells' scripts, and the answers that they ask the program for.

A script holds no list of commands, so it never goes stale: at each Tab it calls
`holdfast --complete WORDS`, the last word being the unfinished one, and gets one candidate a line,
with a tab before its meaning where it has one. A line `:files` or `:folders` leaves the word to the
shell. A candidate with characters that cannot be seen is left out: it could not be typed either.
What is wrong with the words so far is no news to whoever is still typing: the answer is empty.
"""

from __future__ import annotations

from holdfast.cli.grammar import commands_of, find_noun, load
from holdfast.cli.parse import Scan, bind
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.cli.grammar import Call, Param, Table
    from holdfast.cli.output import Output
    from holdfast.cli.parse import Outside

    Candidate = str | tuple[str, str]


def print_script(call: Call, out: Output) -> None:
    shell = call["shell"]
    script = _SCRIPTS[shell]
    out.emit({"shell": shell, "script": script}, script)


def answer(table: Table, words: Sequence[str], outside: Outside, out: Output) -> None:
    *before, last = words or [""]
    try:
        found = list(_candidates(table, before, last, outside))
    except HoldfastError:
        return
    for candidate in found:
        word, meaning = (candidate, "") if isinstance(candidate, str) else candidate
        if word.isprintable() and (word.startswith(last) or word[:1] == ":"):
            out.page(f"{word}\t{meaning}" if meaning.isprintable() and meaning else word)


def _candidates(
    table: Table, before: Iterable[str], last: str, outside: Outside
) -> Iterable[Candidate]:
    scan = Scan(table)
    for word in before:
        scan.feed(word)
    if scan.waiting:
        return _values(scan, scan.waiting, last, outside)
    name, equals, value = last.partition("=")
    if not scan.dashed and last.startswith("-"):
        options = scan.options()
        if not equals:
            return [(option.name, option.help) for option in options]
        return [
            _prefixed(f"{name}=", candidate)
            for option in options
            if option.name == name
            for candidate in _values(scan, option, value, outside)
        ]
    return _next_words(scan, last, outside)


def _next_words(scan: Scan, last: str, outside: Outside) -> Iterable[Candidate]:
    if scan.noun is None:
        return _nouns(scan.table)
    verbs = [] if scan.command else [(one.verb, one.summary) for one in scan.commands if one.verb]
    argument = scan.next_argument()
    return [*verbs, *(_values(scan, argument, last, outside) if argument else ())]


def _values(scan: Scan, param: Param, prefix: str, outside: Outside) -> Iterable[Candidate]:
    if param.candidates:
        return load(param.candidates)(bind(scan, outside, partial=True), prefix)
    return [f":{param.kind.files}"] if param.kind.files else param.kind.choices


def _prefixed(start: str, candidate: Candidate) -> Candidate:
    if isinstance(candidate, tuple):
        return start + candidate[0], candidate[1]
    return candidate if candidate.startswith(":") else start + candidate


def _nouns(table: Table) -> list[Candidate]:
    return [(noun.name, noun.summary) for noun in table.nouns]


def topics(call: Call, _prefix: str) -> list[Candidate]:
    """What `holdfast help` explains: the nouns, and after a noun its verbs."""
    if not call["topic"]:
        return _nouns(call.table)
    commands = commands_of(find_noun(call.table, call["topic"][0]))
    return [(one.verb, one.summary) for one in commands if one.verb and len(call["topic"]) == 1]


# Bash splits words at = and : and replaces the last piece only, so the script joins the pieces for
# the program and cuts what bash keeps from the answers.
_BASH = r"""_holdfast() {
    local cur="${COMP_WORDS[COMP_CWORD]}" word last= joined= glue= line i
    local -a words=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ ${#words[@]} -gt 0 && ( -n $glue || $word == [=:] ) ]]; then
            words[${#words[@]} - 1]+="$word"
        else
            words[${#words[@]}]="$word"
        fi
        glue=
        [[ $word == [=:] ]] && glue=1
    done
    for ((i = 0; i < ${#words[@]}; i++)); do
        words[i]="${words[i]//[\"\'\\]/}"
    done
    [[ $cur == [=:] ]] && cur=
    last="${words[${#words[@]} - 1]}"
    joined="${last%"${cur//[\"\'\\]/}"}"
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :files | :folders)
                compopt -o filenames 2>/dev/null
                word=-f
                [[ $line == :folders ]] && word=-d
                while IFS= read -r line; do
                    COMPREPLY+=("$line")
                done < <(compgen "$word" -- "$cur")
                ;;
            *)
                line="${line%%$'\t'*}"
                printf -v line %q "${line#"$joined"}"
                COMPREPLY+=("$line")
                ;;
        esac
    done < <(holdfast --complete "${words[@]}" 2>/dev/null)
}
complete -F _holdfast holdfast"""

_ZSH = r"""#compdef holdfast
_holdfast() {
    local line
    local -a described
    for line in "${(@f)$(holdfast --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case "$line" in
            '') ;;
            :files) compset -P '-*='; _files ;;
            :folders) compset -P '-*='; _files -/ ;;
            *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            *) described+=("${line//:/\\:}") ;;
        esac
    done
    (( $#described )) && _describe holdfast described
}
if [[ ${funcstack[1]} == _holdfast ]]; then
    _holdfast "$@"
else
    compdef _holdfast holdfast
fi"""

_FISH = r"""function __holdfast_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in (holdfast --complete $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files :folders
                set -l start (string match -r -- '^-[^=]*=' "$current")
                set -l path (string replace -r -- '^-[^=]*=' '' "$current")
                for found in (__fish_complete_path "$path")
                    if test $line = :files; or string match -qr -- '^[^\t]*/(\t|$)' $found
                        echo -- "$start$found"
                    end
                end
            case '*'
                echo -- $line
        end
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
