"""Questions whose answers are known: Foundry's own files of them, and those of test collections.

A line of a file of questions is an object: `query`, and `relevant`, which names documents by id, by
path or by the id of a chunk, in a list or in an object that grades them. Queries with
`"kind": "known-item"` were made from the corpus; a file holds one kind. Other keys are for others.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal, TypeGuard

from foundry.errors import FoundryError, RequestError
from foundry.runtime.evaluation import Grades
from foundry.runtime.retrieval.journal import MAX_QUERY_LENGTH

Kind = Literal["questions", "known-item"]

SKIPPED = {"empty": "empty", "too_long": f"over {MAX_QUERY_LENGTH:,} characters"}
"""Reasons for which a query cannot be asked, by the key under which they are counted."""

LINE_HINT = 'a line is like {"query": "...", "relevant": ["path or id"]}'

BEIR_HINT = (
    'queries are lines like {"_id": "q1", "text": "..."}; judgements are lines of query id,'
    " document id and grade between tabs, under a heading line"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the grade of each relevant document; those graded 0 or less are not relevant."""

    query: str
    relevant: Grades


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind.

    `skipped` counts those left out, by the keys of SKIPPED; `unjudged` those to which no document
    is relevant.
    """

    kind: Kind
    questions: tuple[Question, ...]
    skipped: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SKIPPED, 0))
    unjudged: int = 0


def read_questions(file: Path) -> QuestionSet:
    """Read a file of questions. Raises RequestError, naming the line."""
    questions: list[Question] = []
    kinds: set[Kind] = set()
    skipped = dict.fromkeys(SKIPPED, 0)
    for number, line in _lines(file, LINE_HINT):
        try:
            kind, question = _parse(line)
        except (ValueError, RecursionError) as error:
            raise RequestError(
                f"{file}, line {number}: {error}",
                hint=LINE_HINT,
            ) from None
        kinds.add(kind)
        if reason := skip_reason(question.query):
            skipped[reason] += 1
        else:
            questions.append(question)
    if len(kinds) > 1:
        raise RequestError(
            f"{file}: holds questions and known-item queries", hint="keep them in two files"
        )
    if not questions:
        because = f" ({said})" if (said := describe_skipped(skipped)) else ""
        raise RequestError(
            f"{file}: holds no question{because}", hint="add one, or remove the file"
        )
    return QuestionSet(kinds.pop(), tuple(questions), skipped)


def askable_lines(file: Path) -> bytes:
    """Return the content of a file of questions without those that cannot be asked."""
    lines = (line for _, line in _lines(file, LINE_HINT))
    kept = [line for line in lines if skip_reason(json.loads(line)["query"]) is None]
    return "".join(f"{line}\n" for line in kept).encode()


def write_lines(file: Path, questions: Iterable[Mapping[str, object]]) -> None:
    """Write a new file of questions. Raises FoundryError if it is there already."""
    lines = (json.dumps(question, ensure_ascii=False) for question in questions)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
    except FileExistsError:
        raise FoundryError(
            f"{file}: exists already", hint="name another file, or remove this one"
        ) from None


def skip_reason(query: str) -> str | None:
    """Return the key of SKIPPED for a query that cannot be asked; None for others."""
    if not query.strip():
        return "empty"
    return "too_long" if len(query) > MAX_QUERY_LENGTH else None


def describe_skipped(skipped: Mapping[str, int]) -> str | None:
    """Say how many queries were left out and why; None if there are none."""
    reasons = ", ".join(f"{count:,} {SKIPPED[key]}" for key, count in skipped.items() if count)
    return f"{sum(skipped.values()):,} queries cannot be asked: {reasons}" if reasons else None


def read_beir(queries_file: Path, judgements_file: Path) -> QuestionSet:
    """Read queries.jsonl and qrels.tsv (Thakur et al. 2021, BEIR). Raises FoundryError."""
    queries = dict(_read_queries(queries_file))
    grades: dict[str, dict[str, float]] = {}
    for place, query, document, grade in _read_judgements(judgements_file):
        if query not in queries:
            raise FoundryError(f"{place}: {queries_file} has no query {query!r}", hint=BEIR_HINT)
        grades.setdefault(query, {})[document] = grade
    skipped = Counter(dict.fromkeys(SKIPPED, 0))
    skipped.update(filter(None, map(skip_reason, queries.values())))
    questions = tuple(
        Question(text, grades[name])
        for name, text in queries.items()
        if skip_reason(text) is None and any(grade > 0 for grade in grades.get(name, {}).values())
    )
    if not questions:
        because = f" ({said})" if (said := describe_skipped(skipped)) else ""
        raise FoundryError(
            f"{judgements_file}: no document is relevant to any query{because}", hint=BEIR_HINT
        )
    unjudged = len(queries) - skipped.total() - len(questions)
    return QuestionSet("questions", questions, dict(skipped), unjudged)


def _read_queries(file: Path) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, line in _lines(file, BEIR_HINT):
        place = f"{file}, line {number}"
        try:
            values: Mapping[str, object] = json.loads(line)
            name, text = values["_id"], values["text"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise FoundryError(f"{place}: not a query", hint=BEIR_HINT) from None
        if not _is_name(name) or not _is_text(text):
            raise FoundryError(f"{place}: _id and text must be texts", hint=BEIR_HINT)
        if name in seen:
            raise FoundryError(f"{place}: the id {name!r} was used before", hint=BEIR_HINT)
        seen.add(name)
        yield name, text


def _read_judgements(file: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, line in _lines(file, BEIR_HINT):
        place, fields = f"{file}, line {number}", line.split("\t")
        try:
            query, document, grade = fields
            if not isfinite(value := float(grade)):
                raise ValueError(grade)
            yield place, query, document, value
        except ValueError:
            is_heading = number == 1 and len(fields) == 3
            if not is_heading:
                raise FoundryError(f"{place}: not a judgement: {line!r}", hint=BEIR_HINT) from None


def _parse(line: str) -> tuple[Kind, Question]:
    values = json.loads(line)
    if not isinstance(values, dict):
        raise ValueError("not an object")
    query, kind = values.get("query"), values.get("kind", "questions")
    if not _is_text(query):
        raise ValueError("query must be a text")
    if kind not in ("questions", "known-item"):
        raise ValueError('kind must be "questions" or "known-item"')
    written = values.get("relevant")
    if not isinstance(written, dict | list):
        raise ValueError("relevant must be a list of names, or an object of names and grades")
    grades = list(written.items() if isinstance(written, dict) else ((name, 1) for name in written))
    for name, grade in grades:
        if not _is_name(name):
            raise ValueError("relevant must name documents by texts that are not empty")
        if type(grade) not in (int, float) or not isfinite(grade):
            raise ValueError(f"the grade of {name!r} must be a number")
    if not any(grade > 0 for _, grade in grades):
        raise ValueError("relevant must name at least one document")
    return kind, Question(query, {name: float(grade) for name, grade in grades})


def _is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text of whole characters; JSON can write half a pair."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def _is_name(value: object) -> TypeGuard[str]:
    return _is_text(value) and value.strip() != ""


def _lines(file: Path, hint: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file}: cannot be read: {error}", hint=hint) from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.rstrip("\r")
