"""Spanish words that show whether a message can be understood by itself."""

import re

from .conversation import ENGLISH, LanguageWords, word_set

WORDS = LanguageWords(
    language="spanish",
    empty=ENGLISH.empty
    | word_set(
        "el la los las un una unos unas de del a al en con sin por para sobre es son era ser está"
        " están ha han hay puede pueden debe no sí yo me mi mis tú te nos nuestro usted que qué"
        " quién quiénes cuál cuáles cuándo dónde cómo cuánto y e o pero si porque se más dame da"
        " muestra di dime explica explícame explícalo ejemplo ejemplos menos simple sencillo"
        " detalle detalles otra otro vez resumen resume traduce continúa repite favor español"
        " inglés lista tabla él ella ellos ellas lo le les su sus esto eso este esta estos estas"
        " ese esa esos esas"
    ),
    pronouns=re.compile(
        rf"{ENGLISH.pronouns.pattern}|\b(?:él|ellas?|ellos|les?|sus?|est[aeo]s?|es[ao]s?|ese)\b"
        r"|\blo(?=\W*$)"
    ),
    expletives=re.compile(rf"{ENGLISH.expletives.pattern}|\bes posible\b"),
    clauses=re.compile(
        rf"{ENGLISH.clauses.pattern}|\b(?:y|o|pero|si|cuando|porque|que|donde|cómo|quién)\b"
    ),
    openings=re.compile(
        rf"{ENGLISH.openings.pattern}|¿?(?:y|pero|o|sólo|solo|también)\b"
        r"|¿?(?:con|de|desde|en|hasta|para|sin|sobre)(?: [^\W_][\w.+#-]*){1,3}\W*\Z"
    ),
    asking=re.compile(
        rf"{ENGLISH.asking.pattern}|(?:qu(?:é|ién|iénes)|cuál(?:es)?|cuándo|cuánt[oa]s?|dónde"
        r"|cómo|por qué|es|son|puede|hay)\b"
    ),
    thanks=ENGLISH.thanks
    | word_set("gracias ok okay vale bien perfecto genial bueno entendido acuerdo"),
    polite=ENGLISH.polite | word_set("muchas muy de por tu su la ayuda sí"),
)
