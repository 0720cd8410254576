"""French words by which a message is told from a question that stands by itself."""

import re

from .words import LanguageWords, word_set

WORDS = LanguageWords(
    language="french",
    empty=word_set(
        "le la les un une des du de d l à au aux en dans sur sous par pour avec sans est sont"
        " était être a ont avoir peut peuvent doit doivent ne pas non oui je j me moi mon ma"
        " mes tu te nous notre vous votre qui que quoi quel quelle quels quelles quand où"
        " pourquoi comment combien et ou mais si car se y qu est-ce s c n m t donne donnez"
        " montre dis dites explique expliquez explications plus moins exemple exemples simple"
        " simplement détail détails encore autre résumé résume traduis continue répète s'il"
        " plaît stp svp français anglais liste tableau plait"
    ),
    pronouns=word_set(
        "il elle ils elles lui leur leurs celui celle ceux celles cela ça ceci ce cet cette ces"
    ),
    articles=word_set("ce"),
    possessives=word_set("leur leurs"),
    clauses=word_set("et ou mais si car quand parce lorsque qui que où comment pourquoi"),
    openings=("et", "mais", "ou", "aussi"),
    thanks=word_set("merci ok okay accord parfait super génial compris bien bon"),
    politeness=word_set("d beaucoup très c est pour votre ton aide non oui"),
    expletives=re.compile(r"\best[- ]ce\b|\bil (?=y a\b|faut\b|est possible\b)|\by a[- ]t[- ]il\b"),
    joints="'-",
)
