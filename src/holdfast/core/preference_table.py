"""Every preference that there is, rule by rule: docs/reference/preferences.md is made from it.

`strict` asks more before something is believed, `aggressive` less; `disabled` remembers nothing new
and shows nothing by itself. `balanced` is the default of each.
"""

from __future__ import annotations

from holdfast.core.preferences import Preference

ALL_ORIGINS = ("user", "agent", "tool", "web", "import")

TABLE: tuple[Preference, ...] = (
    Preference(
        name="recall.block",
        kind="flag",
        default=True,
        presets={"disabled": False},
        help="whether a session starts with the subjects of the records",
    ),
    Preference(
        name="recall.limit",
        kind="whole",
        default=8,
        low=1,
        high=50,
        help="how many records a search gives unless it is asked for another number",
    ),
    Preference(
        name="recall.rerank",
        kind="choice",
        default="blend",
        choices=("blend", "relevance", "importance", "newest"),
        help="what decides the order of what a text matches: relevance, importance, age and use "
        "together, or one of them alone",
    ),
    Preference(
        name="recall.diagnostics",
        kind="choice",
        default="off",
        choices=("off", "basic", "detailed"),
        help="what a search tells of itself: nothing; how many candidates, how many dropped, the "
        "budget and the time; or each candidate's scores too",
    ),
    Preference(
        name="context.tokenizer",
        kind="text",
        default="estimate",
        high=400,
        help="what counts the tokens of a context: `estimate`, `tiktoken:ENCODING` or "
        "`tokenizers:FILE`, a tokenizer.json; what is named must be installed",
    ),
    Preference(
        name="context.budget",
        kind="whole",
        default=0,
        low=0,
        high=2_147_483_647,
        help="how many tokens a context takes at most where the call does not say; 0 for all that "
        "the stores offer",
    ),
    Preference(
        name="screening.find",
        kind="choices",
        default=["secrets", "hidden", "instructions"],
        choices=("secrets", "hidden", "instructions"),
        help="what is held for a person when it is to be remembered, and not shown where it stands "
        "already: secrets, characters that hide something, instructions to the agent",
    ),
    Preference(
        name="write.start",
        kind="choice",
        default="draft",
        choices=("draft", "confirmed", "refused"),
        presets={"aggressive": "confirmed", "disabled": "refused"},
        help="what a new record is: a draft of its session, confirmed at once, or refused",
    ),
    Preference(
        name="write.near",
        kind="choice",
        default="show",
        choices=("show", "refuse", "ignore"),
        presets={"strict": "refuse"},
        help="what happens to a record that is nearly one that is there: both are shown, it is "
        "refused, or nobody looks",
    ),
    Preference(
        name="promotion.support",
        kind="whole",
        default=1,
        low=0,
        high=10,
        presets={"strict": 2, "aggressive": 0},
        help="how many updates and corroborations a draft needs before it can be promoted",
    ),
    Preference(
        name="promotion.origins",
        kind="choices",
        default=["user", "agent", "tool", "import"],
        choices=ALL_ORIGINS,
        presets={"strict": ["user", "agent"], "aggressive": list(ALL_ORIGINS)},
        help="from where a draft may come that anybody may promote; a person may promote all",
    ),
    Preference(
        name="promotion.supersede",
        kind="choice",
        default="trusted",
        choices=("named", "trusted", "any"),
        presets={"strict": "named", "aggressive": "any"},
        help="when a record takes the place of one of the same kind and subject that says "
        "something else: when it names it, when it is trusted as much, or always; else the "
        "promotion is refused. One that is pinned gives way only to one that names it",
    ),
    Preference(
        name="disclosure.depth",
        kind="choice",
        default="index",
        choices=("index", "summary", "selective", "full"),
        presets={"aggressive": "summary"},
        help="how much of a record a session starts with: its subject, its first sentence too, the "
        "whole body of what is pinned or important, or the whole body of all",
    ),
    Preference(
        name="disclosure.soft_tokens",
        kind="whole",
        default=800,
        low=50,
        high=1_000_000,
        presets={"strict": 400, "aggressive": 1_600},
        help="from how many tokens on the block shows subjects only, whatever the depth",
    ),
    Preference(
        name="disclosure.hard_tokens",
        kind="whole",
        default=1_200,
        low=100,
        high=1_000_000,
        presets={"strict": 600, "aggressive": 2_400},
        help="how many tokens the block may have at most",
    ),
    Preference(
        name="disclosure.subjects",
        kind="whole",
        default=50,
        low=1,
        high=1_000,
        presets={"strict": 25, "aggressive": 100},
        help="how many records the block names at most",
    ),
    Preference(
        name="disclosure.important",
        kind="whole",
        default=80,
        low=0,
        high=100,
        help="from which importance on the depth `selective` shows the whole body",
    ),
    Preference(
        name="decay.close_days",
        kind="whole",
        default=30,
        low=1,
        high=36_500,
        presets={"strict": 14, "aggressive": 90},
        help="after how many days without use an episode (task_state, failure) is closed: out of "
        "the block and of searches, still there by its id",
    ),
    Preference(
        name="decay.expire_days",
        kind="whole",
        default=180,
        low=0,
        high=36_500,
        presets={"strict": 90, "aggressive": 0},
        help="how many days after it was closed an episode is forgotten; 0 is never",
    ),
    Preference(
        name="review.turns",
        kind="whole",
        default=10,
        low=0,
        high=1_000,
        presets={"disabled": 0},
        help="after how many turns of a session's user a review of it is due; 0 is never",
    ),
    Preference(
        name="review.reviewer",
        kind="choice",
        default="auto",
        choices=("auto", "rules"),
        help="who reviews: a language model where one is set up, and the rules where there is none "
        "or it fails; or the rules alone",
    ),
    Preference(
        name="review.approval",
        kind="choice",
        default="off",
        choices=("off", "inferred", "all"),
        presets={"strict": "inferred"},
        help="which of a review's suggestions wait for a person: none, those that the user did not "
        "say, or all. What a tool or a web page said always waits",
    ),
    Preference(
        name="review.instructions",
        kind="choice",
        default="hold",
        choices=("hold", "apply"),
        presets={"aggressive": "apply"},
        help="whether a suggestion that tells agents how to work, a skill, waits for a person "
        "whatever `review.approval` says",
    ),
    Preference(
        name="review.confidence",
        kind="whole",
        default=60,
        low=0,
        high=100,
        presets={"strict": 80, "aggressive": 40},
        help="how sure a suggestion must be, in percent, to be applied without a person",
    ),
    Preference(
        name="review.notices",
        kind="choice",
        default="on",
        choices=("off", "on", "verbose"),
        help="what a session is told of what was remembered",
    ),
    Preference(
        name="review.detach",
        kind="flag",
        default=True,
        help="whether a command that makes a review due leaves it to a process of its own; else it "
        "waits for the next program, or for `holdfast worker`",
    ),
    Preference(
        name="model.provider",
        kind="choice",
        default="none",
        choices=("none", "openai", "anthropic"),
        help="who speaks for the language model that reviews: nobody; OpenAI, or whatever speaks "
        "like it at `model.base_url`; or Anthropic",
    ),
    Preference(
        name="model.name",
        kind="text",
        default="",
        high=200,
        help="which model, as its service calls it",
    ),
    Preference(
        name="model.base_url",
        kind="text",
        default="",
        high=1_000,
        help="where the service is; empty is the provider's own",
    ),
    Preference(
        name="model.key_env",
        kind="text",
        default="",
        high=200,
        help="the variable of the environment that holds the key; empty is OPENAI_API_KEY or "
        "ANTHROPIC_API_KEY for the provider's own service, and no key for another",
    ),
    Preference(
        name="model.answers",
        kind="choice",
        default="schema",
        choices=("schema", "json"),
        help="how the form of an answer is asked for: by a schema, or in words, for services that "
        "know no schemas",
    ),
    Preference(
        name="model.timeout_s",
        kind="whole",
        default=60,
        low=1,
        high=3_600,
        help="how many seconds one answer may take",
    ),
    Preference(
        name="model.attempts",
        kind="whole",
        default=4,
        low=1,
        high=10,
        help="how often a model that fails is asked for one answer",
    ),
    Preference(
        name="model.tokens_answer",
        kind="whole",
        default=2_000,
        low=50,
        high=100_000,
        help="how many tokens one answer may have; one that is longer is none",
    ),
    Preference(
        name="model.tokens_review",
        kind="whole",
        default=20_000,
        low=0,
        high=100_000_000,
        help="how many tokens one review may take of a language model; 0 stops every call",
    ),
    Preference(
        name="model.tokens_day",
        kind="whole",
        default=200_000,
        low=0,
        high=1_000_000_000,
        help="how many tokens all calls of language models may take in a UTC day",
    ),
    Preference(
        name="model.money_day",
        kind="whole",
        default=1_000_000,
        low=0,
        high=1_000_000_000_000,
        help="how much they may cost in a UTC day, in millionths, where the price is known",
    ),
    Preference(
        name="model.price_in",
        kind="whole",
        default=0,
        low=0,
        high=1_000_000_000_000,
        help="what a million tokens of a prompt cost, in millionths; 0 is unknown",
    ),
    Preference(
        name="model.price_out",
        kind="whole",
        default=0,
        low=0,
        high=1_000_000_000_000,
        help="what a million tokens of an answer cost, in millionths; 0 is unknown",
    ),
    Preference(
        name="skills.stale_days",
        kind="whole",
        default=30,
        low=1,
        high=36_500,
        help="after how many days without use a skill is called stale",
    ),
    Preference(
        name="skills.archive_days",
        kind="whole",
        default=90,
        low=1,
        high=36_500,
        help="after how many days without use a skill is archived",
    ),
)
BY_NAME = {one.name: one for one in TABLE}
