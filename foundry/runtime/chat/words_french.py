"""French words that show whether a message can be understood by itself."""

import re

from .conversation import ENGLISH, LanguageWords, word_set

WORDS = LanguageWords(
    language="french",
    empty=ENGLISH.empty
    | word_set(
        "le la les un une des du de d l à au aux en dans sur sous par pour avec sans est sont était"
        " être a ont avoir peut peuvent doit doivent ne pas non oui je j me moi mon ma mes tu te"
        " nous notre vous votre qui que quoi quel quelle quels quelles quand où pourquoi comment"
        " combien et ou mais si car se y qu s c n m t donne donnez montre dis dites explique"
        " expliquez explications plus moins exemple exemples simple simplement détail détails"
        " encore autre résumé résume traduis continue répète il plaît stp svp français anglais"
        " liste tableau plait elle ils elles lui leur leurs celui celle ceux celles cela ça ceci ce"
        " cet cette ces"
    ),
    pronouns=re.compile(
        rf"{ENGLISH.pronouns.pattern}|\b(?:ils?|elles?|lui|leurs?|celui|celles?|ceux|cela|ça|ceci"
        r"|cet|cette|ces)\b|\bce(?=\W*$)"
    ),
    expletives=re.compile(
        rf"{ENGLISH.expletives.pattern}"
        r"|\best[- ]ce\b|\bil (?=y a\b|faut\b|est possible\b)|\by a[- ]t[- ]il\b"
    ),
    clauses=re.compile(
        rf"{ENGLISH.clauses.pattern}"
        r"|\b(?:et|ou|mais|si|car|quand|parce|lorsque|qui|que|où|comment|pourquoi)\b"
    ),
    openings=re.compile(
        rf"{ENGLISH.openings.pattern}|(?:et|mais|ou|aussi|seulement)\b"
        r"|(?:avec|chez|dans|de|depuis|dès|pour|sans|sous|sur)(?: [^\W_][\w.+#-]*){1,3}\W*\Z"
    ),
    asking=re.compile(
        rf"{ENGLISH.asking.pattern}|(?:qu(?:i|e|oi|and|els?|elles?)|où|comment|pourquoi|combien|est|sont|peut|faut)\b"
    ),
    thanks=ENGLISH.thanks | word_set("merci ok okay accord parfait super génial compris bien bon"),
    polite=ENGLISH.polite | word_set("d beaucoup très c est pour votre ton aide non oui"),
)
