"""Reads files of questions, in Foundry's own format and in that of BEIR's test collections."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path

from foundry.config.named_files import read_named_text
from foundry.errors import FoundryError
from foundry.runtime.evaluation.questions import (
    MAX_FILE_BYTES,
    SKIPPED,
    Question,
    QuestionSet,
    describe_skipped,
    is_name,
    is_text,
    numbered_lines,
    parse_questions,
    skip_reason,
)

BEIR_HINT = (
    'queries are lines like {"_id": "q1", "text": "..."}; judgements are lines of query id,'
    " document id and grade between tabs, under a heading line"
)


def read_questions(file: Path, *, inside: Path | None = None) -> QuestionSet:
    """Read a file of questions, which must be in the folder `inside`, if given.

    Raises ConfigurationError, naming the line, or NamedFileError.
    """
    return parse_questions(_read(file, inside), str(file))


def askable_lines(file: Path, *, inside: Path | None = None) -> bytes:
    """Return the lines of a file of questions, without those that cannot be asked."""
    lines = (line for _, line in numbered_lines(_read(file, inside)))
    kept = [line for line in lines if skip_reason(json.loads(line)["query"]) is None]
    return "".join(f"{line}\n" for line in kept).encode()


def write_lines(file: Path, questions: Iterable[Mapping[str, object]]) -> None:
    """Write a new file of questions. Raises FoundryError if it exists."""
    lines = (json.dumps(question, ensure_ascii=False) for question in questions)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
    except FileExistsError:
        raise FoundryError(
            f"{file}: exists already", hint="name another file, or remove this one"
        ) from None


def read_beir(queries_file: Path, judgements_file: Path) -> QuestionSet:
    """Read queries.jsonl and qrels.tsv (Thakur et al. 2021, BEIR). Raises FoundryError."""
    queries = dict(_read_queries(queries_file))
    grades: dict[str, dict[str, float]] = {}
    for place, query, document, grade in _read_judgements(judgements_file):
        if query not in queries:
            raise FoundryError(f"{place}: no query in {queries_file} has this id", hint=BEIR_HINT)
        judged = grades.setdefault(query, {})
        judged[document] = max(grade, judged.get(document, grade))
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
    for number, line in numbered_lines(_read_text(file, "--queries")):
        place = f"{file}, line {number}"
        try:
            values: Mapping[str, object] = json.loads(line)
            name, text = values["_id"], values["text"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise FoundryError(f"{place}: not a query", hint=BEIR_HINT) from None
        if not is_name(name) or not is_text(text):
            raise FoundryError(f"{place}: _id and text must be strings", hint=BEIR_HINT)
        if name in seen:
            raise FoundryError(f"{place}: duplicate _id", hint=BEIR_HINT)
        seen.add(name)
        yield name, text


def _read_judgements(file: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, line in numbered_lines(_read_text(file, "--qrels")):
        place, fields = f"{file}, line {number}", line.split("\t")
        try:
            query, document, grade = fields
            if not isfinite(value := float(grade)):
                raise ValueError(grade)
            yield place, query, document, value
        except ValueError:
            is_heading = number == 1 and len(fields) == 3
            if not is_heading:
                raise FoundryError(f"{place}: not a judgement", hint=BEIR_HINT) from None


def _read(file: Path, inside: Path | None) -> str:
    """Return the text of the project's questions, or of the file named by `--questions`."""
    return _read_text(file, "--questions" if inside is None else "", inside)


def _read_text(file: Path, key: str, inside: Path | None = None) -> str:
    return read_named_text(file, MAX_FILE_BYTES, key=key, inside=inside)
