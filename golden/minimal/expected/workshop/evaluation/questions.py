"""Questions with known answers, as JSON lines.

Each line is an object with `query` and `relevant`, a list of documents by id, path or chunk id, or
an object that maps them to grades. Queries with `"kind": "known-item"` were generated from the
corpus; a file has one kind. Other keys are ignored.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, TypeGuard

from ..errors import ConfigurationError
from ..index.records import count_of
from ..retrieval.journal import MAX_QUERY_LENGTH
from .metrics import Grades

Kind = Literal["questions", "known-item"]

SKIPPED = {"empty": "empty", "too_long": f"over {MAX_QUERY_LENGTH:,} characters"}
"""Reasons for skipping a query, by the key under which they are counted."""

MAX_FILE_BYTES = 128_000_000
"""Twice the size of the largest query file of BEIR."""

LINE_HINT = 'a line is like {"query": "...", "relevant": ["path or id"]}'


@dataclass(frozen=True, slots=True)
class Question:
    """A query with graded documents; a grade of 0 or less means not relevant."""

    query: str
    relevant: Grades


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind.

    `skipped` counts skipped queries by the keys of SKIPPED; `unjudged` counts queries without a
    relevant document.
    """

    kind: Kind
    questions: tuple[Question, ...]
    skipped: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SKIPPED, 0))
    unjudged: int = 0


def parse_questions(text: str, place: str) -> QuestionSet:
    """Parse the lines of a file. Raises ConfigurationError with `place` and line number."""
    questions: list[Question] = []
    kinds: set[Kind] = set()
    skipped = dict.fromkeys(SKIPPED, 0)
    for number, line in numbered_lines(text):
        try:
            kind, question = _parse(line)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{place}, line {number}: {error}", hint=LINE_HINT) from None
        kinds.add(kind)
        if reason := skip_reason(question.query):
            skipped[reason] += 1
        else:
            questions.append(question)
    if len(kinds) > 1:
        hint = "put them in two files"
        raise ConfigurationError(f"{place}: mixes questions and known-item queries", hint=hint)
    if not questions:
        because = f" ({said})" if (said := describe_skipped(skipped)) else ""
        hint = f"add one: {LINE_HINT}"
        raise ConfigurationError(f"{place}: contains no questions{because}", hint=hint)
    return QuestionSet(kinds.pop(), tuple(questions), skipped)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def skip_reason(query: str) -> str | None:
    """Return the key of SKIPPED for a query that cannot be asked, or None."""
    if not query.strip():
        return "empty"
    return "too_long" if len(query) > MAX_QUERY_LENGTH else None


def describe_skipped(skipped: Mapping[str, int]) -> str | None:
    """Describe how many queries were skipped and why; None if none were."""
    reasons = ", ".join(f"{count:,} {SKIPPED[key]}" for key, count in skipped.items() if count)
    count = sum(skipped.values())
    said = f"{count:,} {'query' if count == 1 else 'queries'} cannot be asked"
    return f"{said}: {reasons}" if reasons else None


def describe_missing(missing: Sequence[str]) -> str | None:
    """Describe the relevant names that no document has; None if there are none."""
    shown = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
    said = count_of(len(missing), "relevant name")
    return f"{said} cannot be found in the index: {shown}" if missing else None


def hash_questions(questions: Sequence[Question]) -> str:
    """Return the SHA-256 of questions and grades; results with equal hashes are comparable."""
    texts = [[question.query, sorted(question.relevant.items())] for question in questions]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a string without lone surrogates, which JSON can contain."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def is_name(value: object) -> TypeGuard[str]:
    """Return whether a value can be the name of a document."""
    return is_text(value) and value.strip() != ""


def _parse(line: str) -> tuple[Kind, Question]:
    values = json.loads(line)
    if not isinstance(values, dict):
        raise ValueError("not an object")
    query, kind = values.get("query"), values.get("kind", "questions")
    if not is_text(query):
        raise ValueError("query must be a string")
    if kind not in ("questions", "known-item"):
        raise ValueError('kind must be "questions" or "known-item"')
    written = values.get("relevant")
    if not isinstance(written, dict | list):
        raise ValueError("relevant must be a list of names, or an object of names and grades")
    grades = list(written.items() if isinstance(written, dict) else ((name, 1) for name in written))
    for name, grade in grades:
        if not is_name(name):
            raise ValueError("relevant must name documents by non-empty strings")
        if type(grade) not in (int, float) or not isfinite(grade):
            raise ValueError("a grade must be a number")
    if not any(grade > 0 for _, grade in grades):
        raise ValueError("relevant must name at least one document")
    return kind, Question(query, {name: float(grade) for name, grade in grades})
