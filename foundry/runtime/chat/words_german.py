"""German words that show whether a message can be understood by itself."""

import re

from .conversation import ENGLISH, LanguageWords, word_set

WORDS = LanguageWords(
    language="german",
    empty=ENGLISH.empty
    | word_set(
        "der die das den dem des ein eine einen einem einer eines im in am an auf aus bei mit nach"
        " von vom zu zum zur für über unter vor ohne um als ist sind war waren sein hat haben hatte"
        " wird werden wurde kann können muss müssen soll sollen darf dürfen nicht kein keine ja"
        " nein ich mir mich mein meine du dir wir uns unser wer wen wem wessen was wann wo warum"
        " wieso weshalb wie welche welcher welches welchen und oder aber denn wenn weil dass auch"
        " noch nur sehr so man sich etwas alle gib zeig sag nenn nenne erklär erkläre erklären"
        " genauer mehr weniger beispiel beispiele einfacher kürzer länger nochmal mal bitte detail"
        " details ausführlicher zusammenfassung fasse zusammen übersetze weiter wiederhole anders"
        " deutsch englisch liste tabelle meinst bedeutet heißt genau erste zweite letzte oben dann"
        " er sie es ihn ihm ihr ihre ihren ihrem ihrer seine seinen seinem seiner dies diese dieser"
        " dieses diesen diesem davon dazu darüber damit dafür dabei darin daran daraus dessen deren"
        " dort"
    ),
    pronouns=re.compile(
        rf"{ENGLISH.pronouns.pattern}|\b(?:er|sie|es|ihn|ihm|ihr|ihre[nmr]?|ihnen|seine[nmr]?"
        r"|diese?[nmrs]?|davon|dazu|darüber|damit|dafür|dabei|darin|daran|daraus|dessen|deren|dort)"
        r"\b|\b(?:das|der|die)(?=\W*$|\s(?:ist|sind|war|kann|muss|soll|darf)\b)"
    ),
    expletives=re.compile(
        rf"{ENGLISH.expletives.pattern}"
        r"|\bgibt es\b|\bes gibt\b|\b(?:ist|wäre) es(?= (?:möglich|erlaubt|nötig)\b)"
    ),
    clauses=re.compile(
        rf"{ENGLISH.clauses.pattern}"
        r"|\b(?:und|oder|aber|denn|wenn|weil|dass|falls|bevor|nachdem|sobald|wie|warum|wo|was|wer)\b"
    ),
    openings=re.compile(
        rf"{ENGLISH.openings.pattern}|(?:und|aber|oder|auch|nur|was ist mit|wie ist es mit)\b"
        r"|(?:ab|auf|bei|bis|für|im|in|mit|nach|ohne|seit|unter|von|vor|zu)"
        r"(?: [^\W_][\w.+#-]*){1,3}\W*\Z"
    ),
    asking=re.compile(
        rf"{ENGLISH.asking.pattern}|(?:we(?:r|n|m|ssen)|was|wann|wo|warum|wieso|weshalb|wie|welche[rsnm]?|ist|sind|war|kann|muss|darf|soll|hat|wird)\b"
    ),
    thanks=ENGLISH.thanks
    | word_set(
        "danke dank ok okay gut super prima toll klar verstanden verstehe perfekt passt tschüss"
    ),
    polite=ENGLISH.polite
    | word_set(
        "vielen herzlichen besten schön sehr alles dir ihnen ich das ist für die hilfe nein ja"
    ),
)
