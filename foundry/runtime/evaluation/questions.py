"""Questions: what people ask, and the documents that answer it.

A line of a questions file is an object: `query`, and `relevant`, which names documents by id, by
path or by the id of one of their chunks. `relevant` is a list of names, or an object that gives
each name a grade. A line with `"kind": "known-item"` was not asked by anybody, but made from the
corpus itself; one file holds one kind. Other keys are for other readers of the same file. A query
that no search can be asked, empty or too long, is left out and counted.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeGuard

from ..index.errors import ConfigurationError
from ..index.reader import Index
from ..retrieval.results import MAX_QUERY_LENGTH

Kind = Literal["questions", "known-item"]

SKIPPED = {"empty": "empty", "too_long": f"over {MAX_QUERY_LENGTH:,} characters"}
"""Why a query is left out, by the key under which that is counted."""

CARRIED_QUESTIONS = Path(__file__).parents[1] / "questions.jsonl"
"""The questions that came with this server, if any did."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the grade of each relevant name (see above); at least one is above 0."""

    query: str
    relevant: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind, and a hash by which the same questions are known again.

    `skipped` counts the queries that were left out, by the keys of `SKIPPED`.
    """

    kind: Kind
    questions: tuple[Question, ...]
    skipped: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SKIPPED, 0))

    @property
    def sha256(self) -> str:
        """Of the queries and what is relevant to them, however they were written down."""
        values = [[asked.query, sorted(asked.relevant.items())] for asked in self.questions]
        return hashlib.sha256(json.dumps([self.kind, values]).encode()).hexdigest()


def skip_reason(query: str) -> str | None:
    """Return the key of `SKIPPED` under which a query that cannot be asked is counted."""
    if not query.strip():
        return "empty"
    return "too_long" if len(query) > MAX_QUERY_LENGTH else None


def describe_skipped(skipped: Mapping[str, int]) -> str | None:
    """Return in a sentence how many queries were left out and why; None if there are none."""
    if not any(skipped.values()):
        return None
    reasons = [f"{count:,} {SKIPPED[key]}" for key, count in skipped.items() if count]
    return f"{sum(skipped.values()):,} queries cannot be asked: {', '.join(reasons)}"


def read_questions(file: Path) -> QuestionSet:
    """Read a questions file. Raises ConfigurationError, naming the line."""
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{file}: cannot be read: {error}", hint="name a file of questions, one JSON a line"
        ) from None
    questions: list[Question] = []
    kinds: set[Kind] = set()
    skipped = Counter(dict.fromkeys(SKIPPED, 0))
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                kind, question = _parse_line(line)
            except (ValueError, RecursionError) as error:
                raise ConfigurationError(
                    f"{file}, line {number}: {error}",
                    hint='a line is like {"query": "...", "relevant": ["path or id"]}',
                ) from None
            kinds.add(kind)
            if reason := skip_reason(question.query):
                skipped[reason] += 1
            else:
                questions.append(question)
    if len(kinds) > 1:
        raise ConfigurationError(
            f"{file}: holds questions and known-item queries", hint="keep them in two files"
        )
    if not questions:
        because = f" ({said})" if (said := describe_skipped(skipped)) else ""
        raise ConfigurationError(
            f"{file}: holds no question{because}", hint="add one, or remove the file"
        )
    return QuestionSet(kinds.pop(), tuple(questions), dict(skipped))


def write_questions(questions: QuestionSet) -> bytes:
    """The content of a questions file."""
    kind = {} if questions.kind == "questions" else {"kind": questions.kind}
    lines = [
        json.dumps(
            {"query": question.query, "relevant": dict(question.relevant), **kind},
            ensure_ascii=False,
        )
        for question in questions.questions
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def known_items(index: Index) -> QuestionSet:
    """The headings that the index names as beyond doubt, each with its chunk."""
    items = index.manifest.known_items
    if not items:
        raise ConfigurationError(
            "there are no questions, and the index has no heading that only one place bears",
            hint="write a file of questions and name it with --questions",
        )
    return QuestionSet(
        "known-item", tuple(Question(item.query, {item.chunk_id: 1.0}) for item in items)
    )


def resolve(index: Index, questions: Iterable[Question]) -> tuple[list[Question], list[str]]:
    """The questions with document ids for names, and the names that no document has.

    A name is a document's id, else a chunk's, else a path, which several documents may share. One
    that means nothing here stays as it is: what is not in the index cannot be found.
    """
    questions = list(questions)
    known: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for question in questions for name in question.relevant):
        if (named := index.find_document(name)) is not None:
            known[name] = [named.id]
        elif (chunk := index.find_chunk(name)) is not None:
            known[name] = [chunk.document_id]
    wanted = {name for question in questions for name in question.relevant} - known.keys()
    if wanted:
        for number in range(index.document_count):
            document = index.document(number)
            for path in {document.path, *(place.path for place in document.also_at)}:
                if path in wanted:
                    known.setdefault(path, []).append(document.id)
    resolved = [
        Question(question.query, _merge(question.relevant, known)) for question in questions
    ]
    return resolved, sorted(wanted - known.keys())


def _merge(relevant: Mapping[str, float], known: Mapping[str, Sequence[str]]) -> dict[str, float]:
    grades: dict[str, float] = {}
    for name, grade in relevant.items():
        for document in known.get(name, [name]):
            grades[document] = max(grade, grades.get(document, grade))
    return grades


def is_text(value: object) -> TypeGuard[str]:
    """Whether it is a text of whole characters; JSON can write half a pair."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def is_name(value: object) -> TypeGuard[str]:
    """Whether it is a text that is not empty."""
    return is_text(value) and value.strip() != ""


def _parse_line(line: str) -> tuple[Kind, Question]:
    values = json.loads(line)
    if not isinstance(values, dict):
        raise ValueError("not an object")
    query = values.get("query")
    if not is_text(query):
        raise ValueError("query must be a text")
    kind = values.get("kind", "questions")
    if kind not in ("questions", "known-item"):
        raise ValueError('kind must be "questions" or "known-item"')
    relevant = _parse_relevant(values.get("relevant"))
    if not any(grade > 0 for grade in relevant.values()):
        raise ValueError("relevant must name at least one document")
    return kind, Question(query, relevant)


def _parse_relevant(written: Any) -> dict[str, float]:
    if not isinstance(written, dict | list):
        raise ValueError("relevant must be a list of names, or an object of names and grades")
    grades = written.items() if isinstance(written, dict) else [(name, 1) for name in written]
    relevant: dict[str, float] = {}
    for name, grade in grades:
        if not is_name(name):
            raise ValueError("relevant must name documents by texts that are not empty")
        is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if not is_number or not math.isfinite(grade):
            raise ValueError(f"the grade of {name!r} must be a number")
        relevant[name] = float(grade)
    return relevant
