"""Ruled lines on a PDF page are found among drawings, compared with the drawn figures."""

from collections.abc import Iterator, Sequence

import pypdfium2
from document_files import pdf, stream
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.readers.formats.pdf.drawings import SHORT, THIN, find_rules

HEIGHT = 800.0
Point = tuple[int, int]
# Far apart or at the same place, so that rounding does not matter.
PLACES = st.sampled_from((0, 100, 200))
POINTS = st.tuples(PLACES, PLACES)
# The diagonal keeps paths from being so thin that their box counts as a ruled line.
DIAGONAL = ((0, 0), [("l", (200, 200))])
FIGURES = st.lists(
    st.tuples(POINTS, st.lists(st.tuples(st.sampled_from("lch"), POINTS), max_size=6)),
    max_size=4,
).map(lambda figures: [DIAGONAL, *figures])


@settings(max_examples=150, deadline=None)
@given(paths=st.lists(FIGURES, max_size=4), shift=POINTS)
def test_straight_edges_of_paths_are_rules(
    paths: Sequence[Sequence[tuple[Point, Sequence[tuple[str, Point]]]]], shift: Point
) -> None:
    expected = []
    for figures in paths:
        edges = [edge for start, steps in figures for edge in edges_of(start, steps)]
        for (x, y), (next_x, next_y) in edges:
            across, up = abs(x - next_x), abs(y - next_y)
            if min(across, up) < THIN and max(across, up) > SHORT:
                left, right = (shift[0] + side for side in sorted((x, next_x)))
                bottom, top = (shift[1] + side for side in sorted((y, next_y)))
                expected.append((left, right, HEIGHT - top, HEIGHT - bottom))
    content = "\n".join(map(written, paths))
    found = rules_of(f"1 0 0 1 {shift[0]} {shift[1]} cm {content}")
    assert sorted(found) == sorted(expected)


def edges_of(start: Point, steps: Sequence[tuple[str, Point]]) -> Iterator[tuple[Point, Point]]:
    place = start
    for kind, point in steps:
        if kind == "h":
            yield place, start
            place = start
        else:
            if kind == "l":
                yield place, point
            place = point


def written(figures: Sequence[tuple[Point, Sequence[tuple[str, Point]]]]) -> str:
    parts = []
    for (x, y), steps in figures:
        parts.append(f"{x} {y} m")
        for kind, (to_x, to_y) in steps:
            ends = {"l": f"{to_x} {to_y} l", "c": f"{to_x} {to_y} " * 3 + "c", "h": "h"}
            parts.append(ends[kind])
    return " ".join([*parts, "f"])


def rules_of(content: str) -> list[tuple[float, float, float, float]]:
    document = pypdfium2.PdfDocument(pdf([[]], objects={11: stream(content.encode())}))
    return [tuple(rule) for rule in find_rules(document[0], HEIGHT).tolist()]
