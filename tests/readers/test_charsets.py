"""The character set of bytes that do not declare one."""

# ruff: noqa: RUF001
import pytest

from foundry.readers.decoding import decode, looks_like_wide_text
from foundry.readers.notes import taking_notes

ENGLISH = b"This is a file with some English in it.\n\n" * 5
TEXTS = [
    ("cp1252", "El niño comió mañana en España; ¿qué pasó?"),
    ("cp1252", "A informação não está disponível; a situação das ações é difícil."),
    ("cp1252", "A ação não começou."),
    (
        "cp1252",
        "Le garçon a mangé une crêpe à la crème près de l'église. Où est-il allé après ? Ça "
        "dépend de l’été.",
    ),
    ("cp1252", "Die Prüfung für Mädchen und Jungen wäre schön; die Straße heißt Königsallee."),
    ("cp1252", "Perché la città è così lontana? Più tardi andrò lì, può darsi che sarà già tardi."),
    (
        "cp1252",
        "Räksmörgås är en smörgås med räkor. Åsa åkte till Örebro på lördag för att träffa "
        "sin far.",
    ),
    (
        "cp1252",
        "Blåbærsyltetøy er godt på brødskiver. Han gikk over åsen og så på sjøen før kvelden.",
    ),
    ("cp1252", "Rødgrød med fløde smager godt. Når året går på hæld, må børnene hjælpe på gården."),
    ("cp1252", "Hän lähti töihin aamulla ja söi lounasta myöhään. Työpäivä päättyi yöllä."),
    (
        "cp1252",
        "Það var einu sinni maður sem bjó í litlu þorpi við sjóinn. Hann átti bát og veiddi "
        "fisk á hverjum degi.",
    ),
    (
        "cp1252",
        "La situació de l'educació és difícil; avui l'àvia camina cap a casa amb el nét. "
        "Això és així.",
    ),
    ("cp1252", "De coördinatie van de reünie was geïnspireerd door België; één vrouw zei: “café”."),
    ("cp1252", "The café’s menu — “résumé” included — costs £5 or 10 € …"),
    ("cp1252", "« Bonjour », dit-elle. « Vous êtes là ? »"),
    (
        "cp1250",
        "Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi pod względem swej "
        "godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować "
        "wobec innych w duchu braterstwa.",
    ),
    (
        "cp1250",
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Všichni lidé rodí se svobodní a sobě rovní "
        "co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v "
        "duchu bratrství.",
    ),
    (
        "cp1250",
        "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, "
        "ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy "
        "viseltessenek. Árvíztűrő tükörfúrógép.",
    ),
    (
        "cp1250",
        "A magyar nyelv az uráli nyelvcsalád tagja, a finnugor nyelvek közé tartozó ugor "
        "nyelvek egyike. Legközelebbi rokonai a manysi és a hanti nyelv. Beszélőinek száma "
        "tizenhárom millió fő. Előző évben a nők és a férfiak közül többen választották ezt "
        "a könyvtárat.",
    ),
    (
        "cp1250",
        "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su "
        "obdarena razumom i sviješću i trebaju jedna prema drugima postupati u duhu "
        "bratstva. Čovjek šeće kroz žito.",
    ),
    (
        "cp1250",
        "Toate fiinţele umane se nasc libere şi egale în demnitate şi în drepturi. Ele sunt "
        "înzestrate cu raţiune şi conştiinţă şi trebuie să se comporte unele faţă de altele "
        "în spiritul fraternităţii.",
    ),
    (
        "cp1250",
        "Všetci ľudia sa rodia slobodní a sebe rovní , čo sa týka ich dostojnosti a práv. Sú "
        "obdarení rozumom a majú navzájom jednať v bratskom duchu.",
    ),
    (
        "cp1250",
        "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Človek "
        "že čaka, šepeta in piše.",
    ),
    (
        "iso8859_2",
        "Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi pod względem swej "
        "godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować "
        "wobec innych w duchu braterstwa.",
    ),
    (
        "cp1251",
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены "
        "разумом и совестью и должны поступать в отношении друг друга в духе братства.",
    ),
    (
        "koi8_r",
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены "
        "разумом и совестью и должны поступать в отношении друг друга в духе братства.",
    ),
    (
        "cp1251",
        "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені "
        "розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.",
    ),
    (
        "cp1253",
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. "
        "Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ "
        "τους με πνεύμα αδελφοσύνης.",
    ),
    (
        "cp1254",
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana "
        "sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. "
        "İstanbul'da yaşıyorum, çok güzel bir şehir.",
    ),
    (
        "cp1255",
        "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, "
        "לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
    ),
    (
        "cp1256",
        "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً وعليهم "
        "أن يعامل بعضهم بعضاً بروح الإخاء.",
    ),
    (
        "cp1257",
        "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas "
        "ir sąžinė ir jie turi elgtis vienas kito atžvilgiu kaip broliai.",
    ),
    (
        "cp1257",
        "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir "
        "apveltīti ar saprātu un sirdsapziņu, un viņiem jāizturas citam pret citu brālības "
        "garā.",
    ),
    (
        "cp1257",
        "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile "
        "on antud mõistus ja südametunnistus ja nende suhtumist üksteisesse peab kandma "
        "vendluse vaim.",
    ),
    (
        "cp874",
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ "
        "ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    ),
    (
        "cp932",
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
        "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない"
        "。",
    ),
    (
        "euc_jp",
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
        "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない"
        "。",
    ),
    (
        "euc_kr",
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 "
        "천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
    ),
    (
        "gb18030",
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待"
        "。任何人不得加以奴役或使其处于奴隶状态。",
    ),
    (
        "big5",
        "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神互相對"
        "待。任何人不得使為奴隸或奴役。",
    ),
]


@pytest.mark.parametrize("before", [b"", ENGLISH], ids=["alone", "below English"])
def test_charsets_are_guessed_correctly(before: bytes) -> None:
    found = [decode(before + text.encode(charset)) for charset, text in TEXTS]
    assert found == [(before.decode() + text, 0) for _, text in TEXTS]


def test_a_few_western_words_are_western() -> None:
    texts = "El niño|¿Qué?|Straße|30 °C ± 2 µm|São|naïve café|Ærø|5 £ – 10 €".split("|")
    assert [decode(text.encode("cp1252"))[0] for text in texts] == texts


def test_guesses_are_recorded_and_declarations_are_not() -> None:
    with taking_notes() as notes:
        decode("café".encode())
        decode("caf\xe9".encode("cp1252"), "iso-8859-1")
        assert notes.guessed == set()
        decode("Caf\xe9 cr\xe8me, s'il vous pla\xeet".encode("cp1252"))
        decode(next(text for charset, text in TEXTS if charset == "cp1250").encode("cp1250"))
    assert notes.guessed == {"cp1252", "cp1250"}


SHORT = [
    ("cp1251", "Новый дом стоит у моста."),
    ("koi8_r", "Новый дом стоит у моста."),
    ("koi8_u", "Їжак біг через ліс."),
    ("iso8859_5", "Новый дом стоит у моста, а рядом сад."),
    ("cp866", "Новый дом стоит у моста."),
    ("cp1255", "הבית החדש עומד ליד הגשר."),
    ("iso8859_7", "Το νέο σπίτι είναι κοντά στη γέφυρα."),
    ("cp1256", "البيت الجديد يقع قرب الجسر."),
    ("euc_jp", "新しい家は橋のそばにあります。"),
    ("cp932", "新しい家は橋のそばにあります。"),
    ("cp949", "새 집은 다리 옆에 있습니다."),
    ("cp874", "บ้านใหม่อยู่ใกล้สะพาน"),
    ("cp1257", "Naujas namas stovi prie tilto, šalia žalia pieva."),
    ("iso2022_jp", "新しい家は橋のそばにあります。"),
    ("utf-16-le", "Новый дом стоит у моста."),
    ("utf-16-be", "הבית החדש עומד ליד הגשר."),
    ("utf-16-le", "新しい家は橋のそばにあります。"),
]


def test_charset_of_a_sentence_is_guessed() -> None:
    for charset, text in SHORT:
        assert decode(text.encode(charset)) == (text, 0)
        named = f"a.txt: {text}" if charset.startswith("utf") else f"See below.\n\n{text}"
        assert decode(named.encode(charset)) == (named, 0)


@pytest.mark.parametrize(
    "content",
    [b"Bush hid the facts" * 4, b"\x04\x07\x01\x02" * 64, bytes(range(256)) * 4, b"a\0b\0" * 2],
)
def test_other_bytes_are_not_read_as_utf_16(content: bytes) -> None:
    assert looks_like_wide_text(content) is None or content.startswith(b"a\0")
