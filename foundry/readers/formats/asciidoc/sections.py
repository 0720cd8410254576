"""Finds the ids of an AsciiDoc document's sections, for cross references to them."""

import re

_SECTION = re.compile(
    r"(?:^\[\[(?P<anchor>[^\[\],\n]{1,200})[^\[\]\n]{0,200}\]\][ \t]*\n"
    r"|^\[[\w-]{0,30}(?:#(?P<short>[^\[\],.%\n]{1,200})|id=\"?(?P<named>[^\[\],\"\n]{1,200}))"
    r"[^\[\]\n]{0,200}\][ \t]*\n)?(?:^\.[^\s.][^\n]*\n)?"
    r"^={2,6}[ \t]+(?P<title>\S[^\n]{0,500})$",
    re.MULTILINE,
)
_MARKED = re.compile(r"[`*_#]+|\[\[[^\[\]]*\]\]")
_WITHIN = re.compile(r"\[\[([^\[\],]{1,200})[^\[\]]{0,200}\]\]")
_DROPPED = re.compile(r"[^\w .-]")
_JOINED = re.compile(r"[ .-]+")


def find_sections(text: str) -> dict[str, str]:
    """Return the titles of sections by stated id, by generated id, and by the title itself."""
    found = dict[str, str]()
    for match in _SECTION.finditer(text):
        title = _MARKED.sub("", match["title"]).strip("= \t")
        if "{" in title:
            continue
        within = _WITHIN.search(match["title"])
        stated = match["anchor"] or match["short"] or match["named"] or (within and within[1])
        generated = _JOINED.sub("_", _DROPPED.sub("", title.lower())).strip("_")
        for name in (stated, f"_{generated}", generated.replace("_", "-"), title):
            if name:
                found.setdefault(name, title)
    return found
