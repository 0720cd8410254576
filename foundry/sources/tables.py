"""Reads a CSV or JSONL file row by row; malformed rows become problems.

Bytes that are not UTF-8 become lone surrogates (`surrogateescape`), so they are not lost here. In
UTF-16 files, they are replaced. NUL characters are removed.
"""

import csv
import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, AnyStr, NamedTuple, TextIO

from foundry.documents.reasons import AnyReason, Reason

BUFFER_BYTES = 1 << 20
UTF_16 = "utf-16"
MAX_ROW_SIZE = 64_000_000
"""The largest row, in characters of CSV or bytes of JSONL."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: column name -> value; `place` is its place in the file."""

    place: str
    values: Mapping[str, Any]


class Line(NamedTuple):
    """A line of a JSONL file, by number from 1, as bytes."""

    number: int
    content: bytes

    @property
    def text(self) -> str:
        """The line as text."""
        return self.content.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that could not be read."""

    reason: AnyReason
    detail: str


def read_rows(path: Path) -> Generator[Row | RowProblem, None, None]:
    """Yield the rows of a CSV file, if the suffix is .csv, or of a JSONL file. Raises OSError."""
    if path.suffix == ".csv":
        yield from read_csv(path)
    else:
        for line in read_lines(path):
            yield parse_line(line) if isinstance(line, Line) else line


def read_csv(path: Path) -> Generator[Row | RowProblem, None, None]:
    """Yield the rows of a CSV file after the header, which is row 1 in their places.

    The delimiter is the comma, unless the first line has more semicolons or tabs. Raises OSError if
    the file cannot be read.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_SIZE))
    with _open(path, newline="") as stream:
        reader = csv.reader(_text_lines(stream), delimiter=_guess_delimiter(stream))
        header: list[str] | None = None
        for number in count(1):
            try:
                cells = next(reader)
            except StopIteration:
                return
            except (csv.Error, _TooLongError) as error:
                yield RowProblem(Reason.MALFORMED_ROW, f"row {number}: {error}")
                continue
            if not cells:
                continue
            if header is None:
                header = [name.strip() for name in cells]
            elif len(cells) != len(header):
                counts = f"{len(cells)} columns, but the header has {len(header)}"
                yield RowProblem(Reason.RAGGED_ROW, f"row {number}: {counts}")
            else:
                yield Row(f"row {number}", dict(zip(header, cells, strict=True)))


def read_lines(path: Path) -> Generator[Line | RowProblem, None, None]:
    """Yield the lines of a JSONL file that are not blank. Raises OSError."""
    with _open(path, newline="\n") as stream:
        # Lines stay bytes: most are only hashed, and decoding takes longer than hashing.
        lines = _lines_of(stream.buffer, b"\0", b"\n\r", "bytes")
        if stream.encoding == UTF_16:
            lines = map(str.encode, _text_lines(stream))
        for number in count(1):
            try:
                content = next(lines)
            except StopIteration:
                return
            except _TooLongError as error:
                yield RowProblem(Reason.MALFORMED_LINE, f"line {number}: {error}")
                continue
            line = Line(number, content.removeprefix(BOM_UTF8) if number == 1 else content)
            # Lines that are not objects may be blank, with any Unicode white space.
            if line.content.startswith(b"{") or line.text.strip():
                yield line


def parse_line(line: Line) -> Row | RowProblem:
    """Parse a line of a JSONL file as an object; numbers are kept as strings, as written."""
    place = f"line {line.number}"
    try:
        value = _decode(line.text)
    except (ValueError, RecursionError) as error:
        return RowProblem(Reason.MALFORMED_LINE, f"{place}: {str(error)[:200]}")
    return Row(place, value) if isinstance(value, dict) else RowProblem(Reason.NOT_AN_OBJECT, place)


_decode = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode


class _TooLongError(Exception):
    pass


def _lines_of(stream: IO[AnyStr], nul: AnyStr, ends: AnyStr, unit: str) -> Iterator[AnyStr]:
    """Return an iterator over the lines, with NUL characters removed.

    It raises _TooLongError for a line that is too long, and then goes on with the next one.
    """

    def read() -> AnyStr:
        line = stream.readline(MAX_ROW_SIZE)
        if len(line) == MAX_ROW_SIZE and line[-1:] not in ends:
            while (rest := stream.readline(1 << 20)) and rest[-1:] not in ends:
                pass
            raise _TooLongError(f"longer than {MAX_ROW_SIZE} {unit}")
        return line.replace(nul, nul[:0])

    # A generator would end at the first error.
    return iter(read, nul[:0])


def _text_lines(stream: TextIO) -> Iterator[str]:
    return _lines_of(stream, "\0", "\n\r", "characters")


def _open(path: Path, newline: str) -> TextIO:
    with path.open("rb") as stream:
        start = stream.read(2)
    if start in {BOM_UTF16_LE, BOM_UTF16_BE}:
        return path.open(encoding=UTF_16, errors="replace", newline=newline)
    encoding, errors = "utf-8-sig", "surrogateescape"
    return path.open(encoding=encoding, errors=errors, newline=newline, buffering=BUFFER_BYTES)


def _guess_delimiter(stream: TextIO) -> str:
    first_line = stream.readline(1 << 20)
    stream.seek(0)
    return max(",;\t", key=first_line.count)
