"""Text that wants to steer the agent that reads it, instead of telling it something.

What is looked for is what an instruction does that no memory needs to do: set aside what the agent
was told, take the place of the system or of a tool, send out what the agent knows, keep something
from the user. A rule for how to work ("always run the tests first") is a memory like others, and a
text that speaks about such instructions, in quotes, is one too.
"""

from __future__ import annotations

from holdfast.core.screening.folded import fold, places, twins
from holdfast.core.screening.languages import LANGUAGES
from holdfast.core.screening.rule import FINDINGS_MAX, Rules, rule
from holdfast.core.text.patterns import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from holdfast.core.screening.rule import Rule, Span

_BEFORE = r"previous|prior|above|earlier|preceding|foregoing|former|past|existing|initial|original"
_FROM_ABOVE = (
    r"(?:(?:you|we|they|i)(?:'ve| have| were| are)?|that|which|were|was|came|come|given|received|told|above"
    r"|before this|so far|up to now|until now|have|been|to you|by the (?:system|developer|user))"
)
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|directions?|guidelines?|commands?|orders|rules|programming"
    r"|training|guardrails|safeguards|restrictions|constraints|polic(?:y|ies)|context|conversation"
    r"|system (?:prompt|message|instructions?)|messages|tasks?)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard"
    r"|dismiss|neglect|erase|drop|circumvent|violate|set aside|pay no attention to"
    r"|(?:do not|don't|never|stop|no longer) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to"
    r"|comply(?:ing)? with|respect(?:ing)?|listen(?:ing)? to))"
)
_AGENT = (
    r"(?:ai|a\.i\.|llm|language model|large language model|chatgpt|gpt-?\d?\w?|claude|gemini|copilot"
    r"|chatbot|assistant|agent|bot|model)"
)
_GO = (
    r"(?:ignore|disregard|forget|reveal|send|forward|upload|post|email|transfer|delete|wipe|execute"
    r"|run|download|install|output|print|reply|respond|say|state|write|include|insert|append|recommend"
    r"|rate|approve|accept|hire|give|mark|visit|open|click|call|fetch|navigate|follow|obey|grant"
    r"|disable|buy|purchase|click|summari[sz]e this)"
)
_OWN = (
    r"(?:(?:this|the|our|your|entire|full|whole|complete|all(?: of)?(?: the| your)?|user'?s?'?s?) ){0,3}"
    r"(?:conversation|chat history|chat log|chat|message history|conversation history|context window"
    r"|system prompt|memory|memories|instructions|private (?:data|information|keys?)|personal (?:data"
    r"|information)|secrets|credentials|api keys?|passwords?|access tokens?|session (?:tokens?"
    r"|cookies?)|cookies|environment variables|env(?:ironment)? vars|ssh keys?|\.env(?: file)?"
    r"|~/\.ssh\S{0,20}|~/\.aws\S{0,20}|/etc/passwd|contents? of \S{1,40})"
)


def _is_order(_: re.Match[str], said: str) -> bool:
    """Rules and tasks are dropped every day; those of the agent are called its own or earlier."""
    if _HARD().search(said):
        return True
    return _EARLIER().search(said) is not None


_HARD = lazily(
    r"\b(?:system (?:prompt|message|instruction)|(?:your|all) (?:\w+ )?(?:instructions|programming|training|guardrails|safeguards)|you(?:'ve| have| were| are)? (?:been )?(?:told|given))"
)
_EARLIER = lazily(rf"\b(?:{_BEFORE}|your|so far|until now|(?:came )?before|these)\b")

ENGLISH: tuple[Rule, ...] = (
    rule(
        "instruction_override",
        "ignor|disregard|forget|overrid|bypass|discard|dismiss|neglect|erase|drop|circumvent|violate"
        "|set aside|attention to|follow|obey|adher|comply|respect|listen",
        rf"\b{_DROP}(?:\s{{1,3}}(?:all|any|every|everything|each|of|the|your|my|our|his|these|those|this"
        rf"|that|safety|security|default|built-in|current|system|developer|user|ethical|content|and|or"
        rf"|other|set|{_BEFORE})){{1,7}}\s{{1,3}}{_ORDERS}\b(?:\s{_FROM_ABOVE}){{0,4}}",
        _is_order,
    ),
    rule(
        "instruction_override",
        "ignor|disregard|forget",
        r"\b(?:ignore|disregard|forget)\s(?:about\s)?(?:all|everything|anything|whatever)"
        r"(?:\s(?:of|that|which|you|was|is|were|has|have|been|said|written|else)){0,5}"
        r"\s(?:(?:above|before(?: this)?|previously)(?=\s{0,2}(?:[.,;:!?\n]|$|and\b|instead\b|now\b))|(?:you(?:'ve| have| were| are)?(?: been)?"
        r"\s(?:told|instructed|taught|learned|learnt|know|given)))",
    ),
    rule(
        "instruction_override",
        "instruction|prompt",
        r"\b(?:your (?:new|real|true|actual|only|updated) (?:system )?(?:instructions?|prompt|task"
        r"|objective|goal|orders|directive)s?\s?(?:is|are|:|-)|(?:new|updated|revised) system (?:prompt"
        r"|instructions?)\s?:|(?:instructions?|prompt|rules) (?:above|before this) (?:is|are|was|were)"
        r" (?:void|invalid|obsolete|cancell?ed|superseded|a test|fake|outdated|no longer))",
    ),
    rule(
        "instruction_override",
        "new instruction|updated instruction|revised instruction",
        r"\b(?:new|updated|revised) instructions?\s?:\s{0,3}(?:please )?(?:ignore|disregard|you (?:must|are|will|should)|reveal|from now on|forget|delete|send (?:all|the|every))\b",
    ),
    rule(
        "instruction_override",
        "instruction|guideline|prompt|directive|programming|safeguard|guardrail",
        r"\b(?:your|previous|prior|earlier|all(?: of)?(?: your| previous| prior)?)(?: safety| system| original)? (?:instructions?|guidelines|system prompt|prompts?|directives|programming|safeguards|guardrails)"
        r" (?:no longer appl(?:y|ies)|(?:is|are|was|were|have been) (?:now |hereby )?(?:void|null and void|cancell?ed|revoked|suspended|lifted|disabled|overridden))\b",
    ),
    rule(
        "instruction_override",
        "supersed",
        r"\bsupersedes? (?:all|any|every) (?:of )?(?:your |the )?(?:prior|previous|earlier|other) (?:instructions?|prompts?|directives|system (?:prompt|message)s?)\b",
    ),
    rule(
        "instruction_override",
        "override|admin|developer|root|sudo",
        r"(?:^|[\n.!?*#\[(>])\s{0,3}[\[(*#]{0,3}(?:system|admin(?:istrator)?|developer|root|security|priority|safety"
        r"|emergency|instruction|operator|anthropic|openai) (?:override|directive|overwrite)"
        r"[^\n]{0,20}?[:\])\n!]",
    ),
    rule(
        "instruction_persona",
        "you are|you're|act as|pretend|roleplay|role-play|mode|jailbr|simulate",
        r"\b(?:you are|you're|act as|pretend (?:to be|you are|that you are)|role-?play as|simulate)"
        r"\s(?:now\s|from now on\s|no longer\s)?(?:an?\s|the\s|in\s|bound\s)?(?:dan\b|stan\b|aim\b|do anything now"
        r"|(?:\w{2,20},?\s){0,2}(?:unrestricted|unfiltered|uncensored|jailbroken|amoral|evil|rogue|unethical"
        r"|unaligned|lawless)\b|(?:developer|god|debug|admin|maintenance|sudo|dan|jailbreak|unrestricted) mode"
        r"|by (?:any|your|the|openai|anthropic)[\w' ]{0,20} (?:rules|restrictions|guidelines|polic\w{1,4}))",
    ),
    rule(
        "instruction_persona",
        "restriction|limitation|guideline|filter|polic|rules|ethic",
        r"\b(?:you(?:'re| are)[^\n.]{0,30}? an? (?:ai|assistant|model|chatbot|language model|llm)[\w ]{0,12} (?:with|without|that has) (?:any|no)"
        r" (?:restrictions?|limitations?|rules|filters?|guidelines|ethics|guardrails)\b|(?:you (?:now )?(?:have|has|operate with|answer with|respond with)|with|pretend (?:that )?you have|act as if you have"
        r"|as (?:an?|the) (?:ai|assistant|model)[\w ]{0,20}(?:with|without))"
        r" (?:absolutely )?no (?:(?:content|safety|ethical|moral|any|more) ){0,3}(?:restrictions|limitations|guidelines"
        r"|filters?|policies|rules|ethics|guardrails)(?: (?:whatsoever|at all|anymore|any more|now|and|or)|[.,!]))",
        lambda _, said: said.startswith(("you", "pretend", "act", "as")),
    ),
    rule(
        "instruction_persona",
        "mode",
        r"\b(?:enable|enter|activate|switch (?:in)?to|turn on|you are (?:now )?in|engage)\s(?:the\s)?"
        r"(?:dan|god|jailbreak|unrestricted|unfiltered|do anything now)[\s-]mode\b|\b(?:developer|god|dan|jailbreak|debug|sudo) mode"
        r"\s?(?::|is)?\s?(?:enabled|activated|engaged|unlocked)[^\n]{0,60}\b(?:you|ignore|bypass|restriction|filter|comply|any)\b",
    ),
    rule(
        "instruction_from_now_on",
        "from now on|from this point|from here on|henceforth|starting now|going forward|for the rest of",
        r"\b(?:from (?:now|here|this (?:point|moment|message))(?: on(?:wards?)?| forward)?|henceforth|starting (?:now"
        r"|with this message)|going forward|for the rest of (?:this|the) (?:conversation|chat|session))"
        rf",?\s(?:you|the {_AGENT}|{_AGENT})(?: as an? \w{{2,20}})?,?\s"
        r"(?:must|will|shall|should|are(?: to)?|have to|need to|only|always|never|obey|belong|do not|don't|may not|cannot)\b"
        r"(?! (?:be (?:able|on|in|at|working|paid|given|sent|receiving|responsible|using)|get|receive|find|see|have (?:a|an|to work|access)|report to|use the new))",
    ),
    rule(
        "instruction_reveal",
        "prompt|instruction|system message|above|verbatim",
        r"\b(?:reveal|print|repeat|output|disclose|leak|dump|recite|show|tell|give|display|write|copy|paste|share)"
        r"(?: (?:me|us|out|back|the user|exactly|down)){0,2}"
        r" (?:(?:your|all(?: of)? your)(?: (?:full|entire|hidden|initial|original|exact|complete|secret|internal|system|own|developer)){0,4}"
        r" (?:prompt|instructions?|system (?:prompt|message|instructions?)|developer message|rules|guidelines|configuration)"
        r"|(?:the|all|every)(?: (?:full|entire|hidden|exact|complete|text|words|messages?|content|instructions?|of|the|system prompt)){0,5} (?:(?:above|before this|up to here)(?=[.,;:!?]|$|\n|\s(?:verbatim|word for word|exactly|starting|into|inside))|verbatim|word for word))",
        lambda match, said: (
            not _TO_OTHERS().search(said)
            or match.string.startswith((" verbatim", " word for word"), match.end())
        ),
    ),
    rule(
        "instruction_exfiltrate",
        "conversation|chat|system prompt|memor|instructions|private|personal|secrets|credential|api key"
        "|password|tokens|cookie|environment|env|ssh|aws|/etc/|contents",
        rf"(?:^|[\n.!?:;,*>)\]-]\s{{0,3}}|\b(?:and|then|please|must|should|to|now|also|always|silently|secretly|quietly|will|shall)\s)"
        rf"(?:send|post|upload|forward|e-?mail|transmit|leak|exfiltrate|deliver|submit|pass|relay|append|encode|copy|mail)"
        rf"\s(?:(?:me|us|over|along|back|out|secretly|silently|also|a copy of|the contents? of|any|and)\s){{0,3}}{_OWN}"
        r"[^\n.]{0,60}?\s(?:to|at|via|into|in|as|onto|with)\s[^\n]{0,40}?(?:https?://|\bwww\.|[\w.+-]{1,64}@[\w-]{1,63}\.\w|\bwebhook|(?:query|url) (?:string|param)|attacker|[\w-]{1,40}\.(?:com|net|io|xyz|ru|cn|top|site|evil|example)\b)",
    ),
    rule(
        "instruction_reveal",
        "what is your|what are your|what were your|what's your",
        r"\bwhat(?:'s| is| are| were) your (?:(?:full|exact|current|entire) ){0,2}(?:system (?:prompt|message|instructions?)|(?:initial|hidden|original|secret) (?:prompt|instructions?))\b",
    ),
    rule(
        "instruction_exfiltrate",
        "curl|wget|nc ",
        r"\b(?:curl|wget|nc)\s[^\n]{0,80}?(?:\$\(cat|`cat|@|<)\s?[^\s)]{0,40}?(?:\.ssh|id_rsa|id_ed25519|\.env\b|\.aws|/etc/(?:passwd|shadow)|\.netrc|\.git-credentials)",
    ),
    rule(
        "instruction_exfiltrate",
        "append|include|embed|insert|add ",
        rf"\b(?:append|include|embed|insert|add) {_OWN} (?:to|in|into|as) (?:every|each|any|all) (?:\w{{1,12}} )?(?:links?|urls?|images?|repl(?:y|ies)|responses?|requests?|quer(?:y|ies)|messages?|answers?)\b",
    ),
    rule(
        "instruction_conceal",
        "secret|hidden",
        r"\bkeep (?:this|these|it|the above|all of this)[^\n.]{0,25}? (?:secret|hidden) from (?:the |your )?users?\b",
    ),
    rule(
        "instruction_override",
        "this message is from|this is a message from|this is your",
        r"\bthis (?:message )?is (?:a message )?(?:from )?(?:the|your) (?:system administrator|system|developers?|creators?|operators?|administrator)[^\n]{0,20}?[:,.!] ?(?:you (?:must|are|will|have to)|ignore|disregard|stop)\b",
    ),
    rule(
        "instruction_exfiltrate",
        "![",
        r"!\[[^\]\n]{0,80}\]\(\s{0,3}https?://(?P<s>[^\s)]{1,300})",
        lambda _, said: _FILLED_IN().search(said) is not None,
    ),
    rule(
        "instruction_conceal",
        "user|tell|mention|anyone",
        r"\b(?:do not|don't|never|without|must not|avoid|refrain from)\s(?:ever\s)?"
        r"(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|disclos(?:e|ing)|let(?:ting)?|show(?:ing)?|ask(?:ing)?)"
        r"\b[^\n.]{0,30}?\b(?:(?:the|any|your) (?:user|human|operator)s?|anyone|them)\b[^\n.]{0,30}?"
        r"\b(?:about (?:this|these|it|the (?:instruction|injection|request|change|command|transfer|upload))|(?:this|these|that you|of this|you (?:did|have|are|were)|the existence of)\b)",
        lambda _, said: _ABOUT_IT().search(said) is not None,
    ),
    rule(
        "instruction_conceal",
        "mention|reveal|disclose|acknowledge|admit",
        r"\b(?:do not|don't|never|must not)\s(?:ever\s)?(?:mention|reveal|disclose|acknowledge|admit|reference|repeat|output)\s"
        r"(?:(?:that|the existence of|any of|to anyone)\s)?(?:you (?:received|were given|have been given|read|are following|got)\s)?"
        r"(?:this|these|the (?:above|hidden|secret))\s(?:message|instructions?|prompt|note|text|command|directive|rules?)",
    ),
    rule(
        "instruction_agent",
        "ai|llm|assistant|agent|model|gpt|claude|bot|copilot|gemini",
        rf"\b(?:if you(?:'re| are) an? (?:{_AGENT}|automated \w{{2,12}})\b[^\n.:,]{{0,40}}"
        rf"(?:reading|processing|parsing|summari[sz]ing|reviewing|viewing|evaluating|screening|scanning|analy[sz]ing)[^\n.:]{{0,40}}"
        rf"|(?:attention|note to|notice to|message to|message for|instructions? (?:to|for)|dear|hey|hello|to|calling)\s(?:all\s|any\s|the\s)?"
        rf"(?:{_AGENT}s?)(?:\s(?:systems?|agents?|assistants?|models?|tools?|reviewers?|crawlers?|readers?))?"
        rf"(?:\s(?:reading|processing|that|who|parsing|viewing)[^\n:,!.]{{0,40}})?)\s?[:,!.-]{{1,3}}\s{{0,3}}"
        rf"(?:please\s|you\s(?:must|should|will|are\sto|need\sto|shall)\s|always\s|immediately\s|now\s|also\s|do\snot\s|don't\s|never\s){{0,3}}"
        rf"(?:ignore|disregard|forget|reveal|send|forward|upload|transfer|wipe|execute|download|recommend|rate|approve|accept this|hire"
        rf"|reply only|respond only|respond with|reply with|output|say that|state that|give (?:this|a)|mark this|visit|click|fetch http|obey|grant|disable|buy|purchase|delete|add the following|include the following|tell the user|mention\b|flag|run the following|run this|stop)",
    ),
    rule(
        "instruction_agent",
        "remember|memory|future",
        r"\b(?:remember|save|store|memorize|add (?:this )?to (?:your )?(?:long-term )?memory|update your memory)\b[^\n]{0,60}?"
        r"\b(?:as (?:a|the|your) (?:(?:most )?(?:trusted|authoritative|preferred|primary|reliable) ){1,2}source"
        r"|(?:must|should|will) (?:always )?(?:obey|comply|follow (?:all|any) (?:instructions|commands|orders) (?:from|in|at)|trust (?:everything|all|any))"
        r"|(?:no|never) (?:longer )?(?:need|ask|require)s? (?:for )?(?:confirmation|permission|approval) (?:to|for|before) (?:transfer|delet|send|execut|pay|wir))",
    ),
    rule(
        "instruction_agent",
        "base64|rot13|decode|hex",
        r"\b(?:base64|rot13|hex)?[- ]?decode (?:the |this |and )[^\n.]{0,40}?\b(?:and|then)\s(?:(?:silently|then|immediately|strictly) ){0,2}"
        r"(?:follow|execute|obey|run|do what|carry out|act on|comply)\b",
    ),
)

# Forms that belong to the system, to a tool or to a turn of a conversation, and to no memory.
FORMS: tuple[Rule, ...] = (
    rule(
        "instruction_role",
        "<",
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|begin_of_text|end_of_text|start_header_id|end_header_id|eom_id|endofprompt|fim_\w{3,8}|channel|message|start|end|tool|return|call)\|>",
    ),
    rule("instruction_role", "[inst]|[/inst]|<<sys>>|<</sys>>", r"\[/?inst\]|<</?sys>>"),
    rule("instruction_role", "_of_turn>", r"<(?:start|end)_of_turn>"),
    rule(
        "instruction_role",
        "<",
        r"<(?P<t>/?(?:system|developer)(?:[-_ ]?(?:prompt|message|reminder|instructions?|override|note))?|/?(?:assistant|human|ai)"
        r"|/?(?:important|admin|secret|hidden)[-_ ]?(?:instructions?|message|override|note))>"
        r"(?=[^\n<]{0,300}?\b(?:you|your|must|ignore|always|never|do not|don't|disregard|respond|assistant|user)\b)",
    ),
    rule(
        "instruction_role",
        "system|human|assistant|instruction",
        r"(?:^|\n)\s{0,3}(?:#{1,4}\s?|\[|\*\*)(?:system|system (?:prompt|message|instructions?)|new instructions?)(?:\]|\*\*)?\s?:?(?:\*\*)?\s{0,2}\n?\s{0,3}"
        r"(?=(?:you (?:are|must|will|shall|should)|ignore|disregard|from now on|always|never|your|do not|forget)\b)",
    ),
    rule(
        "instruction_role",
        "system:|system :",
        r"(?:^|\n)\s{0,3}system\s?:\s{0,3}(?:you (?:are|must|will|should)|ignore|disregard|from now on|new instructions?|override|the user (?:has|is|wants)|forget)\b",
    ),
    rule(
        "instruction_role",
        "human:|assistant:",
        r"\n\s{0,3}\n(?:human|assistant|h|a):\s[^\n]{0,400}\n\s{0,3}\n(?:human|assistant|a|h):\s|^(?:\s{0,3}\n){2}(?:human|assistant):\s",
    ),
    rule(
        "instruction_role",
        "begin |end |start of|end of",
        r"(?:-{3,}|={3,}|\[|<|#{2,})\s?(?:begin|end|start of|end of)\s(?:of\s)?(?:(?:new|user|hidden|admin|the|untrusted|trusted)\s){0,2}"
        r"(?:system (?:prompt|message|instructions?)|instructions|context|user (?:input|message|data)|prompt)\s?(?:-{3,}|={3,}|\]|>|#{2,})",
    ),
    rule(
        "instruction_tool",
        "<",
        r"</?(?:tool_calls?|function_calls?|antml:function_calls|tool_use|tool_result|tool_response|function_results?|invoke\s|function=\w|tool_code|tool_output)"
        r"[^<>\n]{0,80}>\s{0,4}(?=[\[{<])",
    ),
    rule(
        "instruction_tool",
        "tool_calls|function_call|tool_use",
        r"\{\s{0,4}\"(?:role\"\s?:\s?\"assistant\"[^\n{}]{0,80}\")?(?:tool_calls\"\s?:\s?\[\s{0,4}\{\s{0,4}\"|function_call\"\s?:\s?\{\s{0,4}\"name\""
        r"|type\"\s?:\s?\"tool_use\"\s?,\s?\"(?:id|name)\")",
    ),
    rule(
        "instruction_tool",
        "action input:",
        r"(?:^|\n)\s{0,3}action\s?:\s?[^\n]{1,80}\n\s{0,3}action input\s?:\s?\S",
    ),
    rule(
        "instruction_comment",
        "<!--",
        rf"<!--(?:(?!-->)[^\n]|\n(?!-->)){{0,200}}?(?:\b{_DROP}\s[^<>\n]{{0,40}}\b{_ORDERS}\b|\b(?:{_AGENT}|you)s?\b[^<>\n]{{0,40}}?\b(?:must|should|always|never|ignore|do not|{_GO})\b"
        rf"|\b(?:instructions?|note|message|attention|important)\b[^<>\n]{{0,20}}\b(?:for|to)\b[^<>\n]{{0,15}}\b{_AGENT}s?\b)",
    ),
    rule(
        "instruction_comment",
        "[//]:|[comment]:",
        rf"\[(?://|comment)\]:\s?(?:#|<>)\s?[(\"'][^\n]{{0,200}}?\b(?:{_AGENT}s?|you|ignore|instructions?)\b[^\n]{{0,80}}?\b(?:ignore|must|always|never|output|say|send|reveal|recommend)\b",
    ),
    rule(
        "instruction_comment",
        "display:|font-size:|visibility:|opacity:|color:|hidden",
        rf"<\w{{1,10}}\s[^<>]{{0,200}}(?:display:\s?none|font-size:\s?[01](?:px|pt|em)?\b|visibility:\s?hidden|opacity:\s?0\b|color:\s?(?:white|#fff(?:fff)?|transparent)|\shidden\b)[^<>]{{0,200}}>"
        rf"[^<]{{0,200}}?\b(?:ignore|disregard|{_AGENT}s?|you must|system prompt|instructions?)\b",
    ),
)

_FILLED_IN = lazily(
    r"(?:[{\[<$]|%7b)[^\s)]{0,30}?"
    r"(?:data|secret|conversation|history|prompt|memor|context|token|key|password|message|chat|user|summary|base64|info)"
)
_TO_OTHERS = lazily(
    r"\bthe (?:text|content|messages?|instructions?)s? (?:above|before)\b(?! verbatim)"
)
_ABOUT_IT = lazily(
    r"\b(?:this|these|that you|you (?:did|have|are|were)|existence|injection|instruction|transfer|upload)\b"
)
_TOPIC = lazily(
    r"injection|jailbreak|attack|malicious|payload|owasp|red[- ]?team|adversarial|test ?case|phrase|regex"
    r"|pattern|detect|filter|classif|corpus|dataset|data set|example|e\.g\.|such as|blog|paper|article|"
    r"\btalk\b|chat template|special token|tokeni[sz]er|guardrail|sanitiz|screening|\bquote|scanner|honeypot"
    r"|angriff|beispiel|attaque|exemple|ejemplo|ataque|exemplo|атак|пример|инъекци|攻击|攻擊|注入|示例|例如|攻撃|例|공격|예시|injekt|injecao|inyeccion|iniezione"
)
_QUOTED = lazily(
    r"\"[^\"\n]{1,400}\"|`[^`\n]{1,400}`|(?<!\w)'[^'\"\n]{1,400}'(?!\w)|```[^`]{1,2000}```"
)

LATIN = Rules([*ENGLISH, *FORMS, *(one for one in LANGUAGES if "".join(one.stems).isascii())])
_OTHERS = Rules([one for one in LANGUAGES if not "".join(one.stems).isascii()])


def instructions_in(text: str) -> Iterator[Span]:
    """Where the text gives the agent instructions; not where it quotes one as its topic."""
    folded = fold(text)
    others = twins(folded)
    spans = [*_spans(folded), *(span for each in others for span in _spans(each))]
    found = sorted(set(spans), key=lambda span: span[1:])[:FINDINGS_MAX]
    if not found or _is_topic(folded, found):
        return
    at = places(text, (place for _, start, end in found for place in (start, end - 1)))
    for code, start, end in found:
        yield code, at[start], at[end - 1] + 1


def _spans(folded: str) -> Iterator[Span]:
    yield from LATIN.spans(folded)
    if not folded.isascii():
        yield from _OTHERS.spans(folded)


def _is_topic(folded: str, found: list[Span]) -> bool:
    """Whether all that was found stands in quotes in a text that is about such things."""
    quoted = [match.span() for match in _QUOTED().finditer(folded)]
    if not all(any(a <= start and end <= b for a, b in quoted) for _, start, end in found):
        return False
    return _TOPIC().search(_QUOTED().sub(" ", folded)) is not None
