"""Rows of a CSV or JSONL file, streamed; a malformed row never stops the others.

Bytes that are not UTF-8 arrive as lone surrogates (`surrogateescape`), so nothing is lost here.
"""

import csv
import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TextIO

MAX_ROW_CHARS = 64_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row: column name to value; `place` says where it is in the file."""

    place: str
    values: Mapping[str, Any]


class Line(NamedTuple):
    """A line of a JSONL file, by its number from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that could not be read."""

    reason: str
    detail: str


def read_rows(path: Path) -> Generator[Row | RowProblem, None, None]:
    """Return the rows of a file, which is CSV by its suffix or else JSONL. Raises OSError."""
    if path.suffix == ".csv":
        yield from read_csv(path)
    else:
        for line in read_lines(path):
            yield parse_line(line) if isinstance(line, Line) else line


def read_csv(path: Path) -> Generator[Row | RowProblem, None, None]:
    """Rows of a CSV file whose first row names the columns, counted from 1 with that row.

    The delimiter is the comma, unless the first line holds more semicolons or tabs. Raises OSError
    when the file cannot be read.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_CHARS))
    with _open(path, newline="") as stream:
        reader = csv.reader(_lines_of(stream), delimiter=_guess_delimiter(stream))
        header: list[str] | None = None
        for number in count(1):
            try:
                cells = next(reader)
            except StopIteration:
                return
            except (csv.Error, _TooLongError) as error:
                yield RowProblem("malformed row", f"row {number}: {error}")
                continue
            if not cells:
                continue
            if header is None:
                header = [name.strip() for name in cells]
            elif len(cells) != len(header):
                counts = f"{len(cells)} columns where the header has {len(header)}"
                yield RowProblem("ragged row", f"row {number}: {counts}")
            else:
                yield Row(f"row {number}", dict(zip(header, cells, strict=True)))


def read_lines(path: Path) -> Generator[Line | RowProblem, None, None]:
    """Lines of a JSONL file that are not blank. Raises OSError when the file cannot be read."""
    with _open(path, newline="\n") as stream:
        lines = _lines_of(stream)
        for number in count(1):
            try:
                line = next(lines)
            except StopIteration:
                return
            except _TooLongError as error:
                yield RowProblem("malformed line", f"line {number}: {error}")
                continue
            if line.strip():
                yield Line(number, line)


def parse_line(line: Line) -> Row | RowProblem:
    """Return the object that a line of a JSONL file holds; numbers stay strings, as written."""
    place = f"line {line.number}"
    try:
        value = json.loads(line.text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        return RowProblem("malformed line", f"{place}: {str(error)[:200]}")
    return Row(place, value) if isinstance(value, dict) else RowProblem("not a JSON object", place)


class _TooLongError(Exception):
    pass


def _lines_of(stream: TextIO) -> Iterator[str]:
    """Return a file's lines without NUL characters, which go on after one that is too long."""

    def read() -> str:
        line = stream.readline(MAX_ROW_CHARS)
        if len(line) == MAX_ROW_CHARS and not line.endswith(("\n", "\r")):
            while (rest := stream.readline(1 << 20)) and not rest.endswith(("\n", "\r")):
                pass
            raise _TooLongError(f"longer than {MAX_ROW_CHARS} characters")
        return line.replace("\0", "")

    # A generator would have ended with the error.
    return iter(read, "")


def _open(path: Path, newline: str) -> TextIO:
    with path.open("rb") as stream:
        start = stream.read(4)
    wide = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if wide:
        return path.open(encoding="utf-16", errors="replace", newline=newline)
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def _guess_delimiter(stream: TextIO) -> str:
    first_line = stream.readline(1 << 20)
    stream.seek(0)
    return max(",;\t", key=first_line.count)
