"""Words that say little by themselves, in the languages that are written most.

They leave a sentence that is used as a query, and only those of the language that most of its words
belong to: `die`, `war` and `car` are small words in German and French, and great ones in English.
An index keeps them all, so one who asks for one finds it. The English ones have no stem.
"""

from __future__ import annotations

from functools import cache

from holdfast.core.text.folding import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LATIN = {
    "English": """
        a about above after again against all also am an and any anyone anything are arent around as
        at be because been before being below between both but by can cannot cant could couldnt did
        didnt do does doesnt doing done dont down during each either else ever every everyone
        everything few for from further had hadnt has hasnt have havent having he her here hers
        herself him himself his how i if in into is isnt it its itself just lets many me might
        more most much must my myself neither no nobody none nor not nothing now of off often on
        once one only onto or other our ours ourselves out over own please really shall she should
        shouldnt since so some someone something still such than that the their theirs them
        themselves then there these they this those though through to too under until up upon us
        usually very via was wasnt we were werent what whatever when whenever where whether which
        while who whom whose why will with within without wont would wouldnt yes yet you your yours
        yourself yourselves
    """,
    "German": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim
        bin bis bist da damit dann das dass dein deine dem den denn der des dich die dies diese
        diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
        euch euer etwas für gegen gibt hab habe haben hast hat hatte hatten hier hin hinter ich ihm
        ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann kein
        keine keinen können könnte mal man mehr mein meine meinem meinen meiner mich mir mit muss
        nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich
        sie sind so soll sollte über um und uns unser unsere unter viel vom von vor wann war waren
        warum was weil welche welcher welches wenn wer wie wieder wir wird wo wurde wurden zu zum
        zur zwischen
    """,
    "French": """
        à afin ai ainsi alors après as au aucun aussi autre aux avant avec avoir c ça car ce ceci
        cela ces cet cette ceux chez chose comme comment d dans de déjà depuis des deux dois doit
        donc dont du elle elles en encore entre es est et était étaient étais été être eu eux fait
        faut hors il ils j je jusqu l la là le les leur leurs lui m ma mais me même mes moi moins
        mon n ne ni non nos notre nous on ont ou où par parce pas peu peut plus pour pourquoi qu
        quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta
        te tes toi ton tous tout toute toutes très tu un une vers veut vos votre vous y
    """,
    "Spanish": """
        a al algo alguien algunas algunos ante antes aquel aquella así aún aunque bajo bien cada
        como cómo con contra cual cuál cuando cuándo de del desde donde dónde dos e el él ella ellas
        ellos en entre era eran eres es esa esas ese eso esos esta está están estaba estas este esto
        estos fue fueron ha había han has hasta hay he la las le les lo los más me mi mí mis mucho
        muy nada ni no nos nosotros nuestra nuestro nunca o os otra otro para pero poco por porque
        que qué quien quién se sea ser si sí sido siempre sin sobre solo son soy su sus también tan
        tanto te tengo tiene tienen todo todos tu tú tus un una unas uno unos usted va vamos y ya yo
    """,
    "Portuguese": """
        a à ainda além algo alguém ao aos após aquela aquele aquilo as às até bem cada com como
        contra da das de dela dele deles depois do dos e é ela elas ele eles em entre era eram essa
        essas esse esses esta está estão estava estas este estes eu foi foram há isso isto já lá lhe
        mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nosso num numa
        nunca o onde os ou para pela pelas pelo pelos por porque qual quando que quem se sem ser seu
        seus só sobre sou sua suas também tem têm tenho ter teu toda todo todos tu tua um uma umas
        uns vai você vocês
    """,
    "Italian": """
        a ad ai al alla alle allo anche ancora avere aveva c che chi ci ciò come con contro cosa
        così cui d da dagli dai dal dalla dalle dei del dell della delle dello di dove due e è ed
        egli era erano essere fa fra gli ha hai hanno ho i il in io l la le lei lo loro lui ma me
        mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello noi non nostra nostro o
        ogni oppure per perché però più poi qual quale quali quando quanto quella quelle quelli
        quello questa queste questi questo qui se sei sempre senza si sia siamo siete solo sono sta
        su sua sue sugli sui sul sulla suo suoi te ti tra tu tua tuo tutti tutto un una uno voi
    """,
    "Dutch": """
        aan al alles als altijd ben bij daar dan dat de den der deze die dit doch doen door dus een
        en er ge geen had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij
        jouw kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat
        ons ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want
        waren was wat we wel werd wie wij wil worden wordt zal ze zich zij zijn zo zonder zou
    """,
    "Turkish": """
        acaba ama ancak artık aslında az bana bazı belki ben beni benim bile bir biri birkaç birçok
        biz bize bizim böyle bu buna bunda bundan bunu bunun burada çok çünkü da daha de defa değil
        diye en gibi göre hangi hani hatta hem henüz hep her herkes hiç için ile ise işte kadar
        kendi ki kim mı mi mu mü nasıl ne neden nerede nereye niçin niye o olan olarak oldu olduğu
        olur on ona ondan onlar onu onun orada oysa sana sanki sen senin siz sizin şey şimdi şöyle
        şu tüm var ve veya ya yani yok zaten
    """,
    "Vietnamese": """
        ai anh bạn bị bởi cả các cái cần chỉ chị cho chúng có con của cũng đã đang để đến đi đó được
        gì hay hoặc hơn khi không là lại làm lên mà mình mỗi một này nào nên nếu ngày những như
        nhưng nó ở phải qua ra rất rồi sẽ sao sau ta tại thế thì theo tôi từ trên trong và vào vẫn
        về vì với vừa
    """,
    "Polish": """
        a aby albo ale bardzo bez bo by był była było były być ci co czy dla do gdy gdzie go i ich
        ile im ja jak jakie jako je jego jej jest jeszcze jeśli już każdy kiedy kto który która
        które lub ma mam mi mnie mnie może my na nad nam nas nie nic nim niż o od on ona one oni
        oraz po pod przed przez przy się są swoje ta tak także tam te tego tej ten też to tu ty
        tylko tym w was we wszystko z za ze że
    """,
    "Swedish": """
        alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din dina ditt
        du där efter ej eller en er ett från för genom ha hade han hans har hennes hon honom hur här
        i icke inte ja jag kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon
        något och om oss på samma sedan sig sin sina sitt som så till under upp ut vad var vara
        varför varit vem vi vid vilka vilken vill över
    """,
    "Indonesian": """
        ada adalah agar akan aku anda apa atau bagi bahwa banyak belum bisa boleh dalam dan dapat
        dari dengan di dia hanya harus ia ini itu jadi jika juga kami kamu kapan karena kata ke
        kepada kita lagi lebih mana masih mereka oleh pada para sama sampai sangat saya sebagai
        sedang seperti setelah siapa sudah tapi telah tentang tetapi tidak untuk yaitu yang
    """,
}
_OTHER_SCRIPTS = """
    а без более бы был была были было быть в вам вас ведь весь во вот все всё всех вы где да даже
    для до его ее её ей ему если есть еще ещё же за здесь и из или им их к как какая какой каких
    когда кто куда ли лишь мне можно мой моя мы на над надо наш не него нее ней нет ни них но ну о
    об он она они оно от очень по под почему при с сам свой себя со так также там тебя тем теперь то
    тогда того тоже той только том тот ты у уже хотя чего чей чем что чтобы эта эти это этот я

    бо був була були було від він вона вони для до є з за із і й його її їх як який коли ми на не ні
    та так там тебе ти то тут у хто це цей ця чи чому що щоб я

    αλλά αν από αυτά αυτή αυτό αυτός για γιατί δε δεν εγώ εδώ είμαι είναι είχε εκεί εμείς ένα έναν
    ένας εσύ έχει έχω ή η ήταν θα και κάθε κι μα με μετά μη μην μια μου μπορεί να ο οι όπως όταν ότι
    όχι πιο ποια ποιος πολύ που πού προς πως πώς σαν σας σε στη στην στις στο στον στους τα τη την
    της τι τις το τον του τους των ως

    إذا إلى أم أما أن أنا أنت أنه أو أي أين ال التي الذي الذين ان بعد بل بين تلك ثم حتى حيث خلال ذلك
    سوف على عن عند عندما غير في فيه فيها قبل قد كان كانت كل كما كيف لا لأن لكن لم لماذا لن له لها
    ليس ما ماذا متى مثل مع من منذ منه منها نحن نعم هذا هذه هل هم هنا هناك هو هي و يا یا یک از است
    این آن به با برای بود تا چه را شد شده که می ها های هر هم و

    אבל או אולי אותה אותו אותי אז אחרי איזה איך אין איפה אל אם אנחנו אני את אתה אתם בין בלי גם דרך
    הוא היא היה היו הם הנה זאת זה זו יותר יש כאן כבר כדי כי כל כמה כמו כן לא לה לו לי לך למה לפני
    מאוד מה מי מתי נו עד על עם עוד עכשיו רק של שלה שלו שלי שלך שם

    अगर अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसे उन उनका उनकी उनके उस उसका उसकी उसके एक और कब
    कभी कर करता करते करना करने कहाँ का कि किस किसी की कुछ के को कोई कौन क्या क्यों क्योंकि गई गए गया
    जब जहाँ जा जो तक तब तुम तो था थी थे दिया दो न नहीं ने पर फिर बहुत भी मुझे में मेरा मेरी मेरे मैं
    यह यहाँ या ये रहा रही रहे लिए लेकिन वह वहाँ वाला वाली वाले वे सब साथ से हम हमारा हमारी हमारे हर
    ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना

    什么 什麼 怎么 怎麼 我们 我們 你们 你們 他们 他們 这个 這個 那个 那個 哪个 哪個 是否 如何 可以
    没有 沒有 一个 一個 这是 這是 哪里 哪裡 为什 為什 请问 請問 么时 麼時 时候 時候 的时 的時 的是
    是什 了吗 了嗎 です ます した ない から まで など こと もの それ これ あれ どこ いつ なに だれ
    です しま ませ せん でし まし った って ている てい いる いま すか とは には では のは のが のを
    んで 입니 니다 습니 니까 합니 하는 에서 으로 에게 까지 부터 무엇 어디 언제 누가 어떻 떻게 나요
    까요 인가
"""


def content_words(words: Iterable[str]) -> list[str]:
    """The words that say something, in order; all of them where none does."""
    given = list(words)
    small = _other_scripts() | max(map(_latin, _LATIN), key=lambda known: _share(given, known))
    return [word for word in given if word not in small] or given


def is_english_stop_word(word: str) -> bool:
    return word in _latin("English")


def _share(words: list[str], small: frozenset[str]) -> int:
    return sum(word in small for word in words)


@cache
def _latin(language: str) -> frozenset[str]:
    return frozenset(fold(_LATIN[language]).split())


@cache
def _other_scripts() -> frozenset[str]:
    return frozenset(fold(_OTHER_SCRIPTS).split())
