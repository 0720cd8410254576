"""Questions as test collections write them: queries in one file, judgements in another."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from foundry.errors import FoundryError
from foundry.runtime.evaluation.questions import (
    SKIPPED,
    Question,
    QuestionSet,
    describe_skipped,
    is_name,
    is_text,
    skip_reason,
)

HINT = (
    'queries are lines like {"_id": "q1", "text": "..."}; judgements are lines of query id,'
    " document id and grade between tabs, under a heading line"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions, and how many queries were left out because nothing is relevant to them."""

    questions: QuestionSet
    unjudged: int = 0


def read_beir(queries_file: Path, judgements_file: Path) -> Judged:
    """Read queries.jsonl and qrels.tsv (Thakur et al. 2021, BEIR). Raises FoundryError."""
    queries = dict(_read_queries(queries_file))
    grades: dict[str, dict[str, float]] = {}
    for place, query, document, grade in _read_judgements(judgements_file):
        if query not in queries:
            raise FoundryError(f"{place}: {queries_file} has no query {query!r}", hint=HINT)
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
            f"{judgements_file}: no document is relevant to any query{because}", hint=HINT
        )
    unjudged = len(queries) - skipped.total() - len(questions)
    return Judged(QuestionSet("questions", questions, dict(skipped)), unjudged)


def _read_queries(file: Path) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, line in _lines(file):
        place = f"{file}, line {number}"
        try:
            values: Mapping[str, object] = json.loads(line)
            name, text = values["_id"], values["text"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise FoundryError(f"{place}: not a query", hint=HINT) from None
        if not is_name(name) or not is_text(text):
            raise FoundryError(f"{place}: _id and text must be texts", hint=HINT)
        if name in seen:
            raise FoundryError(f"{place}: the id {name!r} was used before", hint=HINT)
        seen.add(name)
        yield name, text


def _read_judgements(file: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, line in _lines(file):
        place, fields = f"{file}, line {number}", line.split("\t")
        try:
            query, document, grade = fields
            if not isfinite(value := float(grade)):
                raise ValueError(grade)
            yield place, query, document, value
        except ValueError:
            is_heading = number == 1 and len(fields) == 3
            if not is_heading:
                raise FoundryError(f"{place}: not a judgement: {line!r}", hint=HINT) from None


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FoundryError(f"{file}: cannot be read: {error}", hint=HINT) from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.rstrip("\r")
