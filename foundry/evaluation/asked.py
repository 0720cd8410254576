"""Drafts questions from the logs of a server: what people asked, and their thumbs.

A line of a log is an object: a `query` with its `match` and the ids of the `documents` shown, or a
`query` with a `thumb`, up or down, for the id of a `document`.
"""

import json
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foundry.config.named_files import read_named
from foundry.runtime.evaluation.questions import MAX_FILE_BYTES, skip_reason
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.reader import Index
from foundry.terminal import count_of, format_table, list_briefly, printable

MAX_LISTED = 20
MAX_SHOWN = 5
"""Maximum number of documents that a draft lists for a question, from those shown for it."""

_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_ENDS = " ?!.,;:\"'\u201c\u201d\u2018\u2019"


@dataclass(slots=True)
class _Lines:
    """The log lines of one question."""

    spellings: Counter[str] = field(default_factory=Counter)
    matches: Counter[str] = field(default_factory=Counter)
    thumbs: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question in its most frequent spelling; `asked` counts searches without a strong match.

    `match` is its best match, or None if it only has thumbs. Documents are named by path, or by id
    if several share the path; a `relevant` document has more thumbs up than down.
    """

    query: str
    asked: int
    match: str | None
    relevant: tuple[str, ...]
    shown: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the question as a line of a draft, with further keys that help to edit it."""
        return {
            "query": self.query,
            "relevant": list(self.relevant),
            "asked": self.asked,
            "match": self.match,
            "shown": list(self.shown),
        }


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """Questions, most frequent first; `known` counts those left out, `bad` are skipped lines."""

    questions: tuple[AskedQuestion, ...]
    known: int
    bad: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        found = [question.to_json() for question in self.questions]
        return {"questions": found, "known": self.known, "bad_lines": list(self.bad)}

    def describe(self) -> str:
        """Format the most frequent questions for people."""
        rows = [("query", "asked", "match", "relevant")] + [
            (printable(one.query), str(one.asked), one.match or "-", str(len(one.relevant)))
            for one in self.questions[:MAX_LISTED]
        ]
        said = count_of(len(self.questions), "question")
        said += f", without {self.known:,} that questions.jsonl has already" if self.known else ""
        more = len(self.questions) - MAX_LISTED
        return "\n".join([format_table(rows), *([f"and {more:,} more"] if more > 0 else []), said])

    def describe_bad(self) -> str:
        """Describe the lines that were skipped."""
        listed = list_briefly(self.bad, MAX_LISTED)
        return f"{count_of(len(self.bad), 'line')} of the log skipped\n{listed}"


def collect_questions(index: Index, logs: Iterable[Path], known: Path) -> AskedQuestions:
    """Return the questions in logs, without those in the file `known`.

    Raises RequestError for a log that cannot be read.
    """
    found: dict[str, _Lines] = defaultdict(_Lines)
    bad: list[str] = []
    for file in logs:
        lines = read_named(file, MAX_FILE_BYTES, key="--log").split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    _take(json.loads(line), found)
            except (ValueError, RecursionError) as error:
                reason = "not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
                bad.append(f"{file}, line {number}: {reason}")
    keys = _keys_of(known)
    documents = index.part(Documents.open)
    paths = Counter(document.path for document in documents.page(limit=index.document_count))

    def name(ids: Iterable[str]) -> Iterator[str]:
        for document in filter(None, map(documents.find, ids)):
            yield document.path if paths[document.path] == 1 else document.id

    questions = [
        AskedQuestion(
            query=min(lines.spellings, key=lambda text: (-lines.spellings[text], text)),
            asked=lines.matches.total(),
            # `weak` is better than `none`, and also greater in alphabetical order.
            match=max(lines.matches, default=None),
            relevant=tuple(dict.fromkeys(name(_best(+lines.thumbs)))),
            shown=tuple(dict.fromkeys(name(_best(lines.shown))))[:MAX_SHOWN],
        )
        for key, lines in found.items()
        if key not in keys
    ]
    questions.sort(key=lambda one: (-one.asked, -len(one.relevant), one.query))
    return AskedQuestions(tuple(questions), len(found.keys() & keys), tuple(bad))


def _take(values: object, found: dict[str, _Lines]) -> None:
    """Add a line of a log. Raises ValueError for an invalid one."""
    if not isinstance(values, dict) or not isinstance(values.get("query"), str):
        raise ValueError("not an object with a query")
    query = _BLANK.sub(" ", values["query"].encode(errors="ignore").decode()).strip()
    key = _key(query)
    if skip_reason(query) or not key:
        raise ValueError("the query cannot be asked")
    if "thumb" in values:
        thumb, document = values["thumb"], values.get("document")
        if thumb not in ("up", "down") or not isinstance(document, str):
            raise ValueError("thumb must be up or down, and document an id")
        found[key].thumbs[document] += 1 if thumb == "up" else -1
    else:
        match, documents = values.get("match"), values.get("documents")
        if match not in ("weak", "none") or not _are_texts(documents):
            raise ValueError("must have a match (weak or none) and documents, or a thumb")
        found[key].matches[match] += 1
        found[key].shown.update(documents)
    found[key].spellings[query] += 1


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _key(query: str) -> str:
    """Return the normalised question under which spellings are grouped."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split()).strip(_ENDS)


def _keys_of(known: Path) -> Collection[str]:
    """Return the keys of the questions in a file, if it exists, skipping invalid lines."""
    keys: set[str] = set()
    if not os.path.lexists(known):
        return keys
    for line in read_named(known, MAX_FILE_BYTES, inside=known.parent).split(b"\n"):
        try:
            keys.add(_key(json.loads(line)["query"]))
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
    return keys


def _best(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))
