"""The words of SmartArt: its points in tree order."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.parts import number

_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SHOWN = frozenset({"node", "asst", "doc"})
MAX_DEPTH = 50


def diagram_lines(root: Element) -> Iterator[str]:
    """Yield a diagram's points, one per line, indented by depth."""
    texts: dict[str, str] = {}
    first = []
    for point in root.iter(f"{_DGM}pt"):
        kind = point.get("type", "node")
        paragraphs = ("".join(t.text or "" for t in p.iter(f"{_A}t")) for p in point.iter(f"{_A}p"))
        name = point.get("modelId", "")
        texts[name] = " ".join(filter(None, paragraphs)) if kind in _SHOWN else ""
        first += [name] if kind == "doc" else []
    children: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(f"{_DGM}cxn"):
        if link.get("type", "parOf") == "parOf":
            child = number(link.get("srcOrd")), link.get("destId", "")
            children.setdefault(link.get("srcId", ""), []).append(child)
    seen: set[str] = set()

    def below(name: str, depth: int) -> Iterator[str]:
        if name in seen or depth > MAX_DEPTH:
            return
        seen.add(name)
        text = texts.get(name, "")
        if text:
            yield f"{'  ' * max(depth - 1, 0)}- {text}"
        for _, child in sorted(children.get(name, ())):
            yield from below(child, depth + 1)

    for name in first:
        yield from below(name, 0)
    # Points outside the tree are included too.
    yield from (f"- {text}" for name, text in texts.items() if text and name not in seen)
