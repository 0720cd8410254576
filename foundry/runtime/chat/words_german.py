"""German words by which a message is told from a question that stands by itself."""

import re

from .words import LanguageWords, word_set

WORDS = LanguageWords(
    language="german",
    empty=word_set(
        "der die das den dem des ein eine einen einem einer eines im in am an auf aus bei mit"
        " nach von vom zu zum zur für über unter vor ohne um als ist sind war waren sein hat"
        " haben hatte wird werden wurde kann können muss müssen soll sollen darf dürfen nicht"
        " kein keine ja nein ich mir mich mein meine du dir wir uns unser wer wen wem wessen"
        " was wann wo warum wieso weshalb wie welche welcher welches welchen und oder aber denn"
        " wenn weil dass auch noch nur sehr so man sich etwas alle gib zeig sag nenn nenne"
        " erklär erkläre erklären genauer mehr weniger beispiel beispiele einfacher kürzer"
        " länger nochmal mal bitte detail details ausführlicher zusammenfassung fasse zusammen"
        " übersetze weiter wiederhole anders deutsch englisch liste tabelle verstehe meinst"
        " bedeutet heißt genau erste zweite letzte oben dann"
    ),
    pronouns=word_set(
        "er sie es ihn ihm ihr ihre ihren ihrem ihrer ihnen seine seinen seinem seiner dies"
        " diese dieser dieses diesen diesem das der die davon dazu darüber damit dafür dabei"
        " darin daran daraus dessen deren dort"
    ),
    articles=word_set("das der die"),
    possessives=word_set("ihr ihre ihren ihrem ihrer seine seinen seinem seiner"),
    clauses=word_set(
        "und oder aber denn wenn weil dass falls bevor nachdem sobald wie warum wo was wer"
    ),
    openings=("und", "aber", "oder", "was ist mit", "wie ist es mit", "auch"),
    thanks=word_set(
        "danke dank ok okay gut super prima toll klar verstanden verstehe perfekt passt tschüss"
    ),
    politeness=word_set(
        "vielen herzlichen besten schön sehr alles dir ihnen ich das ist für die hilfe nein ja"
    ),
    expletives=re.compile(
        r"\bgibt es\b|\bes gibt\b|\b(?:ist|wäre) es(?= (?:möglich|erlaubt|nötig)\b)"
    ),
)
