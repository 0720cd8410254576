"""Words by which a message of a conversation is told from a question that stands by itself."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """Words that say nothing about what is asked, in lower case.

    `articles` are pronouns only where no word of its own comes next ("one", but not "one lamp");
    `possessives` may refer to a name of their own clause; `clauses` begin a new one. A message of
    `thanks` and `politeness` alone, with at least one of the former, asks nothing.
    """

    grammar: frozenset[str]
    pronouns: frozenset[str]
    articles: frozenset[str]
    possessives: frozenset[str]
    clauses: frozenset[str]
    talk: frozenset[str]
    openings: tuple[str, ...]
    thanks: frozenset[str]
    politeness: frozenset[str]
    expletives: re.Pattern[str]
    """Pronouns that stand for nothing, as in "is it possible"."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = LanguageWords(
    _words(
        "a an the of in on at to for from by with without into about over under up down out off"
        " as than is are was were be been being am do does did done have has had can could may"
        " might must shall should will would not no yes i me my mine you your yours we us our"
        " who whom whose which what when where why how there here if and or but so because while"
        " too also very just only really some any all each every both few many much lot own same"
        " such don't doesn't didn't isn't aren't what's who's where's how's that's i'm"
    ),
    _words(
        "it its itself they them their theirs he him his himself she her hers this these those"
        " that former latter it's they're he's she's one ones"
    ),
    _words("one ones"),
    _words("its their his her"),
    _words(
        "and but or so then if when while because before after since until though although"
        " where that which who how why what whether"
    ),
    _words(
        "give show tell explain say mean means meant understand clarify elaborate expand"
        " continue go repeat rephrase reword summarise summarize translate list write put make"
        " get know want need like help let see example examples instance detail details detailed"
        " summary list table bullet bullets point points step steps more less again else other"
        " another further longer shorter short long simple simpler simply clear clearer clearly"
        " brief briefly better easier easy please pls answer question sentence sentences word"
        " words terms english german french spanish italian sure exactly next previous first"
        " second third last above below come earlier before after then now"
    ),
    ("and", "but", "or", "also", "what about", "how about", "so", "then"),
    _words(
        "thanks thank thx ty cheers ok okay k great good nice cool perfect excellent awesome"
        " see wonderful fine alright right got understood helps helped helpful sense bye goodbye"
    ),
    _words(
        "you it i that's that is this very much so a lot many all for your the help now clear"
        " makes no yes and really"
    ),
    re.compile(
        r"\b(?:is|was|does|will|would|should|can|could) it(?= (?:not )?(?:take|cost|possible|ok|"
        r"okay|safe|allowed|legal|necessary|required|better|best|worth|matter|true|rain|snow)\b)|"
        r"\b(?:is|are|was|were) there\b|"
        r"\bit (?=(?:takes|costs|is (?:not )?(?:possible|allowed|necessary))\b)"
    ),
)
GERMAN = LanguageWords(
    _words(
        "der die das den dem des ein eine einen einem einer eines im in am an auf aus bei mit"
        " nach von vom zu zum zur für über unter vor ohne um als ist sind war waren sein hat"
        " haben hatte wird werden wurde kann können muss müssen soll sollen darf dürfen nicht"
        " kein keine ja nein ich mir mich mein meine du dir wir uns unser wer wen wem wessen was"
        " wann wo warum wieso weshalb wie welche welcher welches welchen und oder aber denn wenn"
        " weil dass auch noch nur sehr so man sich etwas alle"
    ),
    _words(
        "er sie es ihn ihm ihr ihre ihren ihrem ihrer ihnen seine seinen seinem seiner dies"
        " diese dieser dieses diesen diesem das der die davon dazu darüber damit dafür dabei"
        " darin daran daraus dessen deren dort"
    ),
    _words("das der die"),
    _words("ihr ihre ihren ihrem ihrer seine seinen seinem seiner"),
    _words("und oder aber denn wenn weil dass falls bevor nachdem sobald wie warum wo was wer"),
    _words(
        "gib zeig sag nenn nenne erklär erkläre erklären genauer mehr weniger beispiel"
        " beispiele einfacher kürzer länger nochmal noch mal bitte detail details ausführlicher"
        " zusammenfassung fasse zusammen übersetze weiter wiederhole anders deutsch englisch"
        " liste tabelle verstehe meinst bedeutet heißt genau erste zweite letzte oben dann"
    ),
    ("und", "aber", "oder", "was ist mit", "wie ist es mit", "auch"),
    _words(
        "danke dank ok okay gut super prima toll klar verstanden verstehe perfekt passt tschüss"
    ),
    _words("vielen herzlichen besten schön sehr alles dir ihnen ich das ist für die hilfe nein ja"),
    re.compile(r"\bgibt es\b|\bes gibt\b|\b(?:ist|wäre) es(?= (?:möglich|erlaubt|nötig)\b)"),
)
FRENCH = LanguageWords(
    _words(
        "le la les un une des du de d l à au aux en dans sur sous par pour avec sans est sont"
        " était être a ont avoir peut peuvent doit doivent ne pas non oui je j me moi mon ma mes"
        " tu te nous notre vous votre qui que quoi quel quelle quels quelles quand où pourquoi"
        " comment combien et ou mais si car se y qu est-ce s c n m t"
    ),
    _words(
        "il elle ils elles lui leur leurs celui celle ceux celles cela ça ceci ce cet cette ces"
    ),
    _words("ce"),
    _words("leur leurs"),
    _words("et ou mais si car quand parce lorsque qui que où comment pourquoi"),
    _words(
        "donne donnez montre dis dites explique expliquez explications plus moins exemple"
        " exemples simple simplement détail détails encore autre résumé résume traduis continue"
        " répète s'il plaît stp svp français anglais liste tableau plait"
    ),
    ("et", "mais", "ou", "aussi"),
    _words("merci ok okay accord parfait super génial compris bien bon"),
    _words("d beaucoup très c est pour votre ton aide non oui"),
    re.compile(r"\best[- ]ce\b|\bil (?=y a\b|faut\b|est possible\b)|\by a[- ]t[- ]il\b"),
)
SPANISH = LanguageWords(
    _words(
        "el la los las un una unos unas de del a al en con sin por para sobre es son era ser"
        " está están ha han hay puede pueden debe no sí yo me mi mis tú te nos nuestro usted que"
        " qué quién quiénes cuál cuáles cuándo dónde por qué cómo cuánto y e o pero si porque se"
        " más"
    ),
    _words("él ella ellos ellas lo le les su sus esto eso este esta estos estas ese esa esos esas"),
    _words("lo"),
    _words("su sus"),
    _words("y o pero si cuando porque que donde cómo quién"),
    _words(
        "dame da muestra di dime explica explícame explícalo ejemplo ejemplos más menos simple"
        " sencillo detalle detalles otra otro vez resumen resume traduce continúa repite favor"
        " español inglés lista tabla"
    ),
    ("y", "pero", "o", "también"),
    _words("gracias ok okay vale bien perfecto genial bueno entendido acuerdo"),
    _words("muchas muy de por tu su la ayuda no sí"),
    re.compile(r"\bes posible\b"),
)
LANGUAGES = {
    "english": ENGLISH,
    "german": GERMAN,
    "french": FRENCH,
    "spanish": SPANISH,
}
