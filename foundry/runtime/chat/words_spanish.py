"""Spanish words by which a message is told from a question that stands by itself."""

import re

from .words import LanguageWords, word_set

WORDS = LanguageWords(
    language="spanish",
    empty=word_set(
        "el la los las un una unos unas de del a al en con sin por para sobre es son era ser"
        " está están ha han hay puede pueden debe no sí yo me mi mis tú te nos nuestro usted"
        " que qué quién quiénes cuál cuáles cuándo dónde cómo cuánto y e o pero si porque se"
        " más dame da muestra di dime explica explícame explícalo ejemplo ejemplos menos simple"
        " sencillo detalle detalles otra otro vez resumen resume traduce continúa repite favor"
        " español inglés lista tabla"
    ),
    pronouns=word_set(
        "él ella ellos ellas lo le les su sus esto eso este esta estos estas ese esa esos esas"
    ),
    articles=word_set("lo"),
    possessives=word_set("su sus"),
    clauses=word_set("y o pero si cuando porque que donde cómo quién"),
    openings=("y", "pero", "o", "también"),
    thanks=word_set("gracias ok okay vale bien perfecto genial bueno entendido acuerdo"),
    politeness=word_set("muchas muy de por tu su la ayuda no sí"),
    expletives=re.compile(r"\bes posible\b"),
)
