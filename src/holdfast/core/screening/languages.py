"""Instructions that set aside what the agent was told, and those that ask for it, by language.

A language is a verb, words for what came before, and words for orders, in the order in which the
language puts them. Latin letters come without accents here, as `folded` makes them.
"""

from __future__ import annotations

from holdfast.core.screening.rule import rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.screening.rule import Rule

_GAP = r"[^.!?。！？\n]"


def _language(
    verbs: str, before: str, orders: str, *, last: bool = False, unless: str = ""
) -> Rule:
    """`last`: the verb stands behind what it is about. `unless`: what makes another word of an
    order when it stands right before it."""
    stems = _stems(orders)
    verbs, before, orders = map(_from_the_start, (verbs, before, orders))
    orders = f"(?<!{unless})(?:{orders})" if unless else orders
    what = rf"(?:(?:{before}){_GAP}{{0,25}}?(?:{orders})|(?:{orders}){_GAP}{{0,20}}?(?:{before}))"
    pattern = rf"(?:{verbs}){_GAP}{{0,25}}?{what}"
    if last:
        pattern = rf"{what}{_GAP}{{0,30}}?(?:{verbs})|{pattern}"
    return rule("instruction_override", stems, pattern)


def _from_the_start(words: str) -> str:
    """Words of Latin and Cyrillic letters begin where a word does; elsewhere some have prefixes."""
    spaced = words.lstrip("\\b(?:")[0] < "\u0530"
    return rf"\b(?:{words})" if spaced else words


def _stems(orders: str) -> str:
    """The letters that each word begins with, up to what may vary, and few of them."""
    stems = (
        word.partition("\\")[0].partition("[")[0].partition("(")[0] for word in orders.split("|")
    )
    return "|".join(dict.fromkeys(stem[:5] for stem in stems))


OVERRIDES: tuple[Rule, ...] = (
    _language(  # German
        r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst|vergessen sie|verwirf|uberschreib\w*|befolge? (?:nicht|keine)|umgeh\w*)",
        r"vorherig\w*|bisherig\w*|vorig\w*|obig\w*|fruher\w*|vorangegangen\w*|alle|samtliche|deine|ihre|davor|zuvor",
        r"anweisung\w*|instruktion\w*|vorgaben|systemprompt\w*|befehle|system-prompt|richtlinien",
    ),
    _language(  # French
        r"\b(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne (?:tiens|tenez) pas compte|ne (?:suis|suivez) (?:pas|plus)|fais abstraction|contourne[rz]?)",
        r"precedente?s?|anterieure?s?|ci-dessus|toutes|tes|vos|avant|initiales?|tous les",
        r"instructions?|consignes?|directives?|ordres|regles du systeme|prompt systeme|invites?",
    ),
    _language(  # Spanish
        r"\b(?:ignor[ae]n?|olvid[ae]n?|omit[ae]|descart[ae]|no (?:sigas|siga|obedezcas)|desobedece|haz caso omiso de|pasa por alto)",
        r"anterior\w*|previ[ao]s?|todas|todos|tus|sus|de arriba|hasta ahora|iniciales|del sistema",
        r"instruccion\w*|indicaciones|directrices|ordenes|reglas del sistema|mensajes? del sistema|prompt",
    ),
    _language(  # Portuguese
        r"\b(?:ignor[ae]m?|esquec[ae]m?|desconsider[ae]|descart[ae]|nao (?:siga|sigas|obedeca)|desobedec\w*)",
        r"anterior\w*|previ[ao]s?|todas|todos|suas|tuas|acima|ate agora|iniciais|do sistema",
        r"instruc\w*|instrucoes|orientacoes|diretrizes|ordens|comandos|prompt",
    ),
    _language(  # Italian
        r"\b(?:ignor[aio]\w*|dimentica\w*|trascura\w*|non (?:seguire|rispettare)|scarta\w*|tralascia\w*)",
        r"precedent\w*|tutte|tue|sopra|finora|iniziali|anterior\w*|del sistema|vostre",
        r"istruzion\w*|direttive|indicazioni|comandi|prompt|ordini",
    ),
    _language(  # Dutch
        r"\b(?:negeer|vergeet|sla|volg (?:niet|geen)|omzeil|veronachtzaam)",
        r"vorige|eerdere|voorgaande|bovenstaande|alle|jouw|uw|je|hierboven",
        r"instructies?|opdrachten|aanwijzingen|richtlijnen|systeemprompt|regels van het systeem",
    ),
    _language(  # Swedish, Danish, Norwegian
        r"\b(?:ignorer\w*|bortse|glom|glem|strunta i|se bort fra|folj inte|folg ikke)",
        r"tidigare|foregaende|alla|alle|dina|dine|tidligere|ovan\w*|ovenfor\w*|forrige",
        r"instruktion\w*|instruks\w*|anvisning\w*|systemprompt\w*|instrukser|direktiv\w*",
    ),
    _language(  # Polish
        r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij\w*|pomin\w*|nie (?:stosuj|przestrzegaj|wykonuj))",
        r"poprzedni\w*|wczesniejsz\w*|wszystki\w*|powyzsz\w*|swoj\w*|twoj\w*|dotychczasow\w*",
        r"instrukcj\w*|polece\w*|wytyczn\w*|dyrektyw\w*|prompt\w*",
    ),
    _language(  # Czech and Slovak
        r"\b(?:ignoruj\w*|zapomen\w*|zabudni\w*|nedbej|pomin|nerespektuj\w*)",
        r"predchozi\w*|predosl\w*|predchadzajuc\w*|vsechn\w*|vsetk\w*|drivejs\w*|tve|svoje|vyse",
        r"instrukc\w*|pokyn\w*|prikaz\w*|prompt\w*",
    ),
    _language(  # Romanian
        r"\b(?:ignora\w*|uita\w*|nu (?:urma|respecta)\w*)",
        r"anterioar\w*|precedent\w*|toate|tale|de mai sus",
        r"instructiun\w*|indicatii\w*|comenzi\w*|directive\w*",
    ),
    _language(  # Hungarian
        r"\b(?:hagyd figyelmen kivul|hagyja figyelmen kivul|felejtsd el|ne kovesd)",
        r"korabbi|elozo|osszes|minden|fenti|eddigi",
        r"utasitas\w*|parancs\w*|instrukcio\w*",
        last=True,
    ),
    _language(  # Finnish
        r"\b(?:ohita|unohda|ala (?:noudata|valita)|jata huomiotta)",
        r"aiem\w*|edelli\w*|kaikki|kaikkia|ylla olev\w*",
        r"ohje\w*|kasky\w*|maarays\w*",
    ),
    _language(  # Turkish
        r"(?:yok say\w*|gormezden gel\w*|unut\w*|dikkate alma\w*|goz ardi et\w*|uyma\w*)",
        r"onceki|tum|butun|yukaridaki|sana verilen|daha onceki",
        r"talimat\w*|yonerge\w*|komut\w*|kural\w*|emir\w*",
        last=True,
    ),
    _language(  # Russian
        r"(?:игнориру\w*|проигнорируй\w*|забудь\w*|забудьте|не (?:следуй|выполняй|соблюдай|обращай внимания)\w*|отбрось\w*|пренебреги\w*)",
        r"предыдущ\w*|прежн\w*|все|всех|всё|выше\w*|свои|твои|ранее|прошл\w*|системн\w*",
        r"инструкц\w*|указани\w*|команд\w*|распоряжени\w*|промпт\w*|директив\w*|установк\w*",
    ),
    _language(  # Ukrainian
        r"(?:ігнору\w*|проігнору\w*|забудь\w*|не (?:виконуй|дотримуйся)\w*)",
        r"попередн\w*|всі|усі|вищенаведен\w*|свої|твої|раніше",
        r"інструкці\w*|вказівк\w*|команд\w*|промпт\w*",
    ),
    _language(  # Chinese, both
        r"忽略|忽视|忽視|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不要遵[守循]|不再遵[守循]|抛开|拋開|跳过|跳過|覆盖|推翻",
        r"之前|以前|先前|前面|上面|上述|以上|此前|所有|全部|一切|你的|系统|系統|原有|原来",
        r"指令|指示|提示[词詞]?|命令|规则|規則|说明|說明|设定|設定|要求|限制|约束",
        unless="错误|錯誤|警告|报错|编译|操作",
    ),
    _language(  # Japanese
        r"無視し|無視す|無視せ|忘れ|従わな|破棄し|上書きし",
        r"これまで|以前|前の|上記|以上|すべて|全て|全部|先ほど|今まで|あなたの|システム",
        r"指示|命令|プロンプト|ルール|設定|指令|制約",
        last=True,
    ),
    _language(  # Korean
        r"무시하|무시해|잊어|따르지|무효화",
        r"이전|앞선|위의|모든|지금까지|기존|너의|당신의|시스템",
        r"지시|명령|프롬프트|규칙|지침|설정",
        last=True,
    ),
    _language(  # Arabic
        r"تجاهل\w*|انس[ىَ]?\b|انسَ|لا تتبع\w*|تغاض\w*|أهمل\w*",
        r"السابق\w*|جميع|كل|كافة|أعلاه|التي سبق\w*|الأصلية|الخاصة بك",
        r"التعليمات|تعليمات|الأوامر|أوامر|التوجيهات|توجيهات|الموجه|تعليماتك|تعليماتي",
    ),
    _language(  # Persian
        r"نادیده بگیر\w*|فراموش کن\w*|پیروی نکن\w*",
        r"قبلی|پیشین|همه|تمام\w*|بالا",
        r"دستور\w*|دستورالعمل\w*|فرمان\w*",
        last=True,
    ),
    _language(  # Hebrew
        r"התעלם|התעלמי|תתעלם|שכח|תשכח|אל תציית",
        r"הקודמות|קודמות|הקודם|כל|לעיל|שלך",
        r"ההוראות|הוראות|ההנחיות|הנחיות|הפקודות|פקודות",
    ),
    _language(  # Hindi
        r"अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जा|पालन (?:मत|न)|उपेक्षा",
        r"पिछले|पिछली|पहले|सभी|सारे|सारी|ऊपर|उपरोक्त|पूर्व",
        r"निर्देश|आदेश|हिदायत|नियम",
        last=True,
    ),
    _language(  # Indonesian and Malay
        r"\b(?:abaikan|lupakan|jangan (?:ikuti|patuhi)|hiraukan)",
        r"sebelumnya|semua|seluruh|di atas|terdahulu|sebelum ini",
        r"instruksi|perintah|arahan|petunjuk|prompt",
    ),
    _language(  # Vietnamese
        r"\b(?:bo qua|phot lo|quen|dung (?:lam theo|tuan theo)|khong tuan theo)",
        r"truoc\w*|tren|tat ca|moi|cua ban|he thong",
        r"huong dan|chi thi|chi dan|menh lenh|yeu cau|lenh",
    ),
    _language(  # Thai
        r"เพิกเฉย|ละเว้น|ลืม|ไม่ต้องทำตาม|อย่าทำตาม|มองข้าม",
        r"ก่อนหน้า|ทั้งหมด|ข้างต้น|เดิม|ที่ผ่านมา",
        r"คำสั่ง|คำแนะนำ|คำชี้แจง",
    ),
)


def _asks(stems: str, pattern: str) -> Rule:
    return rule("instruction_reveal", stems, pattern)


REVEALS: tuple[Rule, ...] = (
    _asks(
        "prompt|anweisung",
        r"\b(?:zeig\w*|verrate\w*|gib|nenne\w*|wiederhol\w*)\b[^.!?\n]{0,20}?\b(?:deinen?|ihren?|dein)\b[^.!?\n]{0,20}?(?:system-?prompt|systemanweisung\w*|geheimen? anweisung\w*)",
    ),
    _asks(
        "prompt|instructions|consigne",
        r"\b(?:revele[rz]?|affiche[rz]?|montre[rz]?|repete[rz]?|donne[rz]?)\b[^.!?\n]{0,20}?\b(?:ton|tes|votre|vos)\b[^.!?\n]{0,20}?(?:prompt systeme|instructions? (?:systeme|initiales|secretes|cachees)|consignes? (?:systeme|secretes|initiales))",
    ),
    _asks(
        "prompt|instruccion",
        r"\b(?:revela|muestra(?:me)?|repite|imprime|dime|ensename)\b[^.!?\n]{0,20}?\b(?:tu|tus|su|sus)\b[^.!?\n]{0,20}?(?:prompt|mensaje del sistema|instrucciones (?:del sistema|iniciales|secretas|ocultas))",
    ),
    _asks(
        "prompt|instruc",
        r"\b(?:revele|mostre|repita|imprima|diga)\b[^.!?\n]{0,20}?\b(?:seu|seus|suas|teu|tuas)\b[^.!?\n]{0,20}?(?:prompt|instrucoes (?:do sistema|iniciais|secretas|ocultas))",
    ),
    _asks(
        "промпт|инструкц",
        r"(?:покажи|раскрой|выведи|повтори|сообщи)\w*[^.!?\n]{0,20}?(?:свой|свои|твой|твои|ваш)\w*[^.!?\n]{0,20}?(?:системн\w* (?:промпт|инструкц|сообщени)|скрыт\w* инструкц|промпт)",
    ),
    _asks(
        "提示|系统|系統|指令",
        r"(?:显示|顯示|输出|輸出|泄露|洩露|告诉我|告訴我|打印|重复|重複|透露)[^。！？\n]{0,12}?(?:你的|您的|系统|系統)[^。！？\n]{0,8}?(?:提示[词詞]?|指令|系统消息)",
    ),
    _asks(
        "プロンプト|指示",
        r"(?:あなたの|システム)[^。！？\n]{0,10}?(?:プロンプト|指示)[^。！？\n]{0,10}?(?:表示し|教え|出力し|見せ|公開し|漏ら)",
    ),
    _asks(
        "프롬프트|지침",
        r"(?:너의|당신의|시스템)[^.!?\n]{0,10}?(?:프롬프트|지침|지시)[^.!?\n]{0,12}?(?:출력|보여|공개|알려|말해)",
    ),
)

_MUST = "instruction_from_now_on"
FROM_NOW_ON: tuple[Rule, ...] = (
    rule(
        _MUST,
        "ab jetzt|von nun an|ab sofort",
        r"\b(?:ab jetzt|von nun an|ab sofort)[^.!?\n]{0,10}?\b(?:musst|sollst|wirst|darfst|bist) du\b[^.!?\n]{0,60}?(?:antwort|gehorch|ignorier|verschweig|nur noch|immer|nie|ohne|mir|keine)",
    ),
    rule(
        _MUST,
        "a partir de maintenant|desormais|dorenavant",
        r"\b(?:a partir de maintenant|desormais|dorenavant),?\s(?:tu|vous)\s(?:dois|devez|es|etes|vas|obeis|ne dois|ne devez)\b",
    ),
    rule(
        _MUST,
        "a partir de ahora|de ahora en adelante|desde ahora",
        r"\b(?:a partir de ahora|de ahora en adelante|desde ahora),?\s(?:tu\s)?(?:debes|eres|tienes que|responderas|obedeceras|actuaras|no debes)\b",
    ),
    rule(
        _MUST,
        "a partir de agora|de agora em diante",
        r"\b(?:a partir de agora|de agora em diante),?\s(?:voce\s|tu\s)?(?:deve|e\b|tem que|respondera|obedecera|agira|nao deve)",
    ),
    rule(
        _MUST,
        "d'ora in poi|da ora in poi|da questo momento",
        r"\b(?:d'ora in poi|da ora in poi|da questo momento),?\s(?:tu\s)?(?:devi|sei|dovrai|risponderai|obbedirai|non devi)\b",
    ),
    rule(
        _MUST,
        "vanaf nu",
        r"\bvanaf nu\s(?:moet|ben|zul|mag)\s(?:je|jij|u)\b[^.!?\n]{0,60}?(?:altijd|nooit|alleen|gehoorza|zonder|een)",
    ),
    rule(
        _MUST,
        "с этого момента|отныне|теперь ты",
        r"(?:с этого момента|отныне|теперь),?\sты\s(?:должен|должна|обязан|будешь|не должен|всегда|больше не)",
    ),
    rule(_MUST, "od teraz", r"\bod teraz\s(?:musisz|jestes|bedziesz|masz)\b"),
    rule(
        _MUST,
        "从现在开始|從現在開始|从现在起|從現在起|今后你|现在起",
        r"(?:[从從]现在(?:开始|起)|從現在(?:開始|起)|现在起)，?,?\s?你(?:必须|必須|要|将|將|是|只能|不再|应该|應該|不能)",
    ),
    rule(
        _MUST,
        "今から|これから|以降",
        r"(?:今から|これから(?:は)?|以降)、?,?\s?あなたは[^。！？\n]{0,40}?(?:なければならない|してください|です|とします|しなさい|てはいけません)",
    ),
    rule(
        _MUST,
        "지금부터|이제부터|앞으로",
        r"(?:지금부터|이제부터|앞으로)\s?(?:너는|당신은|넌)[^.!?\n]{0,40}?(?:해야|하라|이다|입니다|마라|된다|한다)",
    ),
    rule(
        _MUST,
        "bundan sonra|su andan itibaren",
        r"\b(?:bundan sonra|su andan itibaren)\b[^.!?\n]{0,40}?(?:zorundasin|malisin|melisin|sin\b|acaksin|eceksin)",
    ),
    rule(
        _MUST,
        "من الآن",
        r"من الآن (?:فصاعدا|فصاعدًا|وصاعدا)?،?\s?(?:يجب عليك|عليك أن|أنت|ستكون|سوف)",
    ),
)

_FREE = "instruction_persona"
WITHOUT_RULES: tuple[Rule, ...] = (
    rule(
        _FREE,
        "du bist",
        r"\bdu bist (?:ab jetzt|von nun an|ab sofort|jetzt|nun) (?:ein|eine|der|die)\b[^.!?\n]{0,50}?\bohne (?:regeln|einschrankungen|filter|grenzen|beschrankungen)",
    ),
    rule(
        _FREE,
        "tu es",
        r"\btu es (?:maintenant|desormais|une?)\b[^.!?\n]{0,50}?\bsans (?:aucune? )?(?:restrictions?|regles?|filtres?|limites?|censure)",
    ),
    rule(
        _FREE,
        "eres|actua",
        r"\b(?:ahora eres|eres ahora|actua como|eres una?)\b[^.!?\n]{0,50}?\bsin (?:ninguna? )?(?:restricciones|reglas|limites|filtros|censura)",
    ),
    rule(
        _FREE,
        "voce",
        r"\bvoce (?:agora )?(?:e|agora)\b[^.!?\n]{0,50}?\bsem (?:nenhuma )?(?:restricoes|regras|limites|filtros|censura)",
    ),
    rule(
        _FREE,
        "ты",
        r"ты (?:теперь|больше|сейчас)[^.!?\n]{0,50}?без (?:каких-либо )?(?:ограничений|правил|цензуры|фильтров)",
    ),
    rule(
        _FREE,
        "你",
        r"你(?:现在|現在|将|將)?是[^。！？\n]{0,12}?(?:没有|沒有|不受|无|無)(?:任何)?[^。！？\n]{0,4}?(?:限制|约束|約束|规则|規則|审查)",
    ),
    rule(
        _FREE,
        "あなたは",
        r"あなたは[^。！？\n]{0,20}?(?:制限|制約|規則|ルール)の?(?:ない|なし|がない|を受けない)[^。！？\n]{0,6}?(?:ai|アシスタント|モデル)",
    ),
)

LANGUAGES: tuple[Rule, ...] = (*OVERRIDES, *REVEALS, *FROM_NOW_ON, *WITHOUT_RULES)
