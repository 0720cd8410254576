"""The language of a text, by how many of its words are the commonest of one language."""

# ruff: noqa: RUF001 (words of Greek and Cyrillic are meant to be that)
import re

WORDS_LOOKED_AT = 2_000
FEWEST_WORDS = 20
"""A shorter text tells nothing."""

LEAST_SHARE = 0.05
"""Of the words of a text; running text has two to eight times as many of them."""

_WORD = re.compile(r"[^\s\d!-/:-@\[-`{-~«»„“”‘’…–—।]+")

_COMMON = {
    "arabic": "في من على إلى أن هذا التي عن مع هو كان لا ما هذه الذي أو بين ذلك كل قد",
    "armenian": "և է որ են ու մի այս համար իր եւ նաև ինչ կամ հետ ոչ որպես մեջ էր",
    "basque": "eta da ez du bat izan dira baina edo zen ere hau dute den beste bere zuen duen",
    "catalan": "el els les de que i és una per amb no del dels com més aquest són però als",
    "czech": "a je se na že s z do jako pro není by jsou nebo který ale při podle jeho",
    "danish": "og det er en at på af til ikke med som der den for har kan et fra blev eller",
    "dutch": "de het een van en is dat niet op te voor met zijn aan er ook bij wordt die of",
    "english": "the and of to in is that for with are this be it as on not by from or an",
    "esperanto": "la kaj de en estas ne ke al por kiu kun pri sed oni el ĝi ili ankaŭ aŭ dum",
    "estonian": "ja on ei see et oli ka või kui mis ning oma seda selle aga kes nii siis pole",
    "finnish": "ja on ei se että oli hän ovat mutta tai kun joka myös ole sen voi jos kuin",
    "french": "le la les des et est une dans que pour qui sur pas avec par au aux du ce sont",
    "german": "der die und das ist nicht ein eine mit für von den dem auf sich wird werden zu",
    "greek": "και το του η της την των να με για από είναι στο που τα οι ο δεν στην θα",
    "hindi": "के का की है में और से को पर यह हैं एक ने कि लिए इस भी नहीं या था",
    "hungarian": "a az és hogy nem is egy van de meg csak ez volt mint vagy már kell még lehet",
    "indonesian": "yang dan di dari untuk dengan ini pada itu adalah dalam tidak ke oleh akan atau",
    "irish": "agus an na ar i go is a le do tá sé ag bhí ní nach don leis chun seo",
    "italian": "il lo gli le di che e è un una per con non del della nel sono come si dei",
    "lithuanian": "ir yra kad iš į su tai ne kaip bet ar buvo apie nuo po dėl savo prie arba jo",
    "nepali": "र को मा छ हो गर्न यो का ले पनि भने लाई एक गरेको छन् तथा हुन् थियो गरी",
    "norwegian": "og det er en å på av til ikke med som der den for har kan et fra ble eller",
    "persian": "و در به از که این را با است برای آن یک تا می بر شود شده خود هم ها",
    "polish": "i w na z nie się do to że jest jak o po od za dla oraz są przez lub",
    "portuguese": "o os as de que e em um uma é por para com não do da se como mais são",
    "romanian": "și de la în pe cu nu este un o care din pentru sunt mai sau că ca prin",
    "russian": "и в не на что с по это как из для или от его но был к при также все",
    "serbian": "i u je da se na za su od sa kao koji iz ili nije и у је да се на за су са као",
    "spanish": "el la los las de que y en un una es por para con no del se como su más",
    "swedish": "och det är en att på av till inte med som den för har kan ett från eller om de",
    "tamil": "ஒரு மற்றும் இந்த என்று அது ஆகும் இது என்ற அந்த பல உள்ள போது என வேண்டும் அல்லது",
    "turkish": "ve bir bu için ile de da olarak olan çok daha gibi ne var değil veya kadar sonra",
    "yiddish": "און די דער איז אין פון צו מיט אויף ניט דאס האט זיי וואס פאר נישט אבער ער זיין",
}
COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
"""For each language with a stemmer, words of which every text in it is full."""


def find_language(text: str) -> str | None:
    """Return the language whose common words a text has most of; None if it has few of any."""
    words = [match[0].lower() for match in _WORD.finditer(text[: WORDS_LOOKED_AT * 10])]
    words = words[:WORDS_LOOKED_AT]
    if len(words) < FEWEST_WORDS:
        return None
    counts = {
        language: sum(word in common for word in words) for language, common in COMMON_WORDS.items()
    }
    best = max(counts, key=lambda language: (counts[language], language))
    return best if counts[best] >= LEAST_SHARE * len(words) else None
