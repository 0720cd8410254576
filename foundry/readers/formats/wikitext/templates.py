"""Text in the arguments of MediaWiki templates, which are not expanded."""

import re
from collections.abc import Sequence

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

MANY = 3
"""A template with at least this many named arguments is a table of facts, like an infobox."""

_PROSE = [
    *("title", "text", "content", "quote", "caption", "description", "message", "reason"),
    *("author", "source"),
]
_STYLE = frozenset(("style", "class"))
_FUNCTION = re.compile(
    r"(?:formatnum|[lu]c(?:first)?|plural|gender|int|ns|nse)\s*:(?=.)", re.IGNORECASE
)
_CITED = ("author", "last", "title", "work", "publisher", "year")
SIGNS = {"!": "|", "=": "=", "nbsp": " ", "ndash": "\u2013", "snd": " \u2013 ", "mdash": "\u2014"}
SIGNS |= dict.fromkeys("anchor clear reflist toc".split(), "")
"""Templates that stand for a character, or that show no text of their own."""
_JOINTS = {
    **dict.fromkeys(("frac", "sfrac", "fraction"), "/"),
    **dict.fromkeys(("start date", "end date", "birth date", "death date"), "-"),
}
"""Templates whose arguments are parts of a number or date."""
_BOXES = frozenset("attention caution danger hint important info note tip warning".split())
_RANGES = [["-"], ["\u2013"], ["to"], ["and"], ["or"], ["by"], ["x"], ["+/-"]]


def template(written: str, arguments: Sequence[tuple[str, str]]) -> str:
    """Return the text of a template's or function's arguments; unnamed ones have numbers."""
    values = [(key, " ".join(value.split())) for key, value in arguments]
    name = written.casefold()
    if function := _FUNCTION.match(written):
        return " ".join([written[function.end() :], *(value for _, value in values)])
    if name.startswith(("#", "defaultsort:", "displaytitle:")):
        # A function: text that may be shown.
        return " ".join(value for _, value in values)
    if name in SIGNS:
        return SIGNS[name]
    # A numbered argument is a text, so an equals sign in it has no meaning.
    placed = [value for key, value in values if value and key.isdecimal()]
    named = {key: value for key, value in values if value and not key.isdecimal()}
    if name.startswith(("cite", "citation")) and name != "citation needed":
        return ". ".join([named[key] for key in _CITED if key in named] or placed)
    if name.partition("-")[0] in {"lang", "transl"} and len(placed) > 1:
        placed = placed[1:]
    if name in _JOINTS:
        return _JOINTS[name].join(placed)
    if name in {"abbr", "tooltip"} and len(placed) > 1:
        return f"{placed[0]} ({placed[1]})"
    if name in {"convert", "cvt"}:
        return " ".join(placed[: 4 if placed[1:2] in _RANGES else 2])
    if name == "val" and placed:
        power = f"\u00d710^{named['e']}" if "e" in named else ""
        return " ".join(filter(None, [" \u00b1 ".join(placed) + power, named.get("u")]))
    if len(named) >= MANY or (named and name.startswith("infobox")):
        facts = [f"{key.replace('_', ' ')}: {value}" for key, value in named.items()]
        return "\n" + "\n".join([*placed, *facts]) + "\n"
    # A value of several words is a text, whatever its name.
    prose = [
        *(key for key in _PROSE if key in named),
        *(key for key in named if key not in {*_PROSE, *_STYLE} and named[key].count(" ") > 1),
    ]
    leave_out(Omission.ATTRIBUTE, " ".join(named[key] for key in named if key not in prose))
    said = " ".join([*placed, *(named[key] for key in prose)])
    return f"{name.capitalize()}: {said}" if name in _BOXES and " " in said else said
