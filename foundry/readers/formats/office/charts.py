"""Reads charts: titles, and their data as a table."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.office.number_formats import show_number
from foundry.readers.formats.office.parts import number
from foundry.readers.notes import leave_out

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MAX_POINTS = 100_000
_DATE_1904 = f"{C}date1904"

Points = dict[int, str]
"""Values or names by their position among the points of a series."""


def add_chart(composer: Composer, root: Element) -> None:
    """Add a chart's texts and its cached data."""
    composer.text("\n".join(dict.fromkeys(_texts(root))))
    _tell_codes(root)
    is_1904 = any(each.get("val", "1") in {"1", "true"} for each in root.iter(_DATE_1904))
    for plot in root.iter():
        if plot.tag.startswith(C) and plot.tag.endswith("Chart"):
            series = plot.findall(f"{C}ser")
            if any(
                each.find(f"{C}xVal") is not None or each.find(f"{C}yVal") is not None
                for each in series
            ):
                _add_points(composer, series, is_1904)
            elif series:
                _add_categories(composer, series, is_1904)
    for data in root.iter(f"{CX}data"):
        _add_extended(composer, data, root)


def _tell_codes(root: Element) -> None:
    """Record formulas and number formats as left out: `Sheet1!$A$2`, `0.0`."""
    codes = (each.text or "" for each in root.iter() if each.tag in _CODES)
    leave_out(Omission.ATTRIBUTE, " ".join(filter(None, codes)), "chart")


_CODES = frozenset({f"{C}f", f"{C}formatCode", f"{CX}f"})


def _texts(root: Element) -> Iterable[str]:
    """Yield the titles of the chart and its axes, and manual labels."""
    for paragraph in root.iter(f"{_A}p"):
        if text := "".join(each.text or "" for each in paragraph.iter(f"{_A}t")).strip():
            yield text
    for title in root.iter(f"{C}title"):
        for value in title.iter(f"{C}v"):
            if value.text and value.text.strip():
                yield value.text.strip()


def _add_categories(composer: Composer, series: list[Element], is_1904: bool) -> None:
    named = next((each for each in series if each.find(f"{C}cat") is not None), None)
    levels = _levels(None if named is None else named.find(f"{C}cat"), is_1904)
    for each in series:
        again = each.find(f"{C}cat") if each is not named else None
        if again is not None:
            leave_out(Omission.DUPLICATE, "\n".join(v.text or "" for v in again.iter(f"{C}v")))
    columns = [_points(each.find(f"{C}val"), is_1904) for each in series]
    names = [_name(each) for each in series]
    count = 1 + max((max(column) for column in (*levels, *columns) if column), default=-1)
    header = [*[""] * max(len(levels), 1), *names]
    rows = [
        [*([level.get(place, "") for level in levels] or [str(place + 1)])]
        + [column.get(place, "") for column in columns]
        for place in range(min(count, MAX_POINTS))
    ]
    if rows or any(names):
        composer.table([header, *(row for row in rows if any(row))])


def _add_points(composer: Composer, series: list[Element], is_1904: bool) -> None:
    for each in series:
        parts = {
            name: _points(each.find(f"{C}{name}"), is_1904)
            for name in ("xVal", "yVal", "bubbleSize")
        }
        drawn = [points for points in parts.values() if points]
        header = [
            shown
            for shown, points in zip(("x", _name(each) or "y", "size"), parts.values(), strict=True)
            if points
        ]
        places = sorted({place for points in drawn for place in points})[:MAX_POINTS]
        if places:
            composer.table(
                [header, *([points.get(place, "") for points in drawn] for place in places)]
            )


def _add_extended(composer: Composer, data: Element, root: Element) -> None:
    """Add the data of Office 2016 charts: waterfalls, trees, histograms."""
    names = [
        (value.text or "").strip()
        for series in root.iter(f"{CX}series")
        if (link := series.find(f"{CX}dataId")) is not None and link.get("val") == data.get("id")
        for value in series.iter(f"{CX}v")
    ]
    texts: list[Points] = []
    values: list[Points] = []
    for level in data.iter(f"{CX}lvl"):
        code = level.get("formatCode", "General")
        points = {
            number(each.get("idx")): _shown(each.text, code, False, "pt")
            for each in level.findall(f"{CX}pt")
        }
        (values if level.get("formatCode") is not None else texts).append(points)
    # Levels are stored from the innermost to the outermost.
    columns = [*reversed(texts), *values]
    places = sorted({place for column in columns for place in column})[:MAX_POINTS]
    header = [*[""] * len(texts), *names[: len(values)]]
    if places:
        composer.table(
            [header, *([column.get(place, "") for column in columns] for place in places)]
        )


def _levels(categories: Element | None, is_1904: bool) -> list[Points]:
    """Return the columns of categories, outermost first; names apply until the next one."""
    if categories is None:
        return []
    found = [_cached(level, is_1904) for level in categories.iter(f"{C}lvl")]
    if not found:
        return [points] if (points := _points(categories, is_1904)) else []
    last = max((max(level) for level in found if level), default=-1)
    for level in found[1:]:
        name = ""
        for place in range(min(last + 1, MAX_POINTS)):
            name = level.setdefault(place, name)
    return found[::-1]


def _points(parent: Element | None, is_1904: bool) -> Points:
    """Return the cached values of a reference, or literal values."""
    for each in () if parent is None else parent.iter():
        if each.tag in _CACHES:
            return _cached(each, is_1904)
    return {}


_CACHES = frozenset(f"{C}{name}" for name in ("strCache", "numCache", "strLit", "numLit"))


def _cached(cache: Element, is_1904: bool) -> Points:
    written = cache.find(f"{C}formatCode")
    code = (written.text if written is not None else None) or "General"
    kind = "text" if cache.tag in {f"{C}strCache", f"{C}strLit", f"{C}lvl"} else "number"
    points: Points = {}
    for each in cache.findall(f"{C}pt"):
        value = each.find(f"{C}v")
        text = value.text if value is not None else None
        points[number(each.get("idx"))] = _shown(text, each.get("formatCode", code), is_1904, kind)
    return points


def _shown(text: str | None, code: str, is_1904: bool, kind: str) -> str:
    if kind == "text" or not text:
        return (text or "").strip()
    try:
        shown = show_number(float(text), code, is_1904=is_1904)
    except ValueError:
        return text.strip()
    if shown != text:
        leave_out(Omission.DUPLICATE, text, "chart")
    return shown


def _name(series: Element) -> str:
    found = series.find(f"{C}tx")
    texts = () if found is None else (each.text or "" for each in found.iter(f"{C}v"))
    return " ".join(filter(None, (text.strip() for text in texts)))
