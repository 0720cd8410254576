"""The report of a build: counts by source, for the index and for people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Self

from foundry.documents import Document, Finding, Reading, Skipped
from foundry.documents.reasons import Reason
from foundry.documents.secrets import find_secrets
from foundry.readers.formats import plain
from foundry.readers.registry import find_by_name


class Group(StrEnum):
    """The topic of a finding."""

    DECODING = "decoding"
    HIDDEN = "hidden"
    SECRET = "secret"
    SCAN = "scan"
    DAMAGE = "damage"


class Kind(StrEnum):
    """Kinds of findings; other kinds are named after what was found."""

    REPLACED = "replaced characters"
    UNSEEN = "pages that are pictures, not read"
    UNSURE = "lines of a picture that may be misread"


@dataclass(slots=True)
class WordTally:
    """Word counts of many documents; see `documents.left_out.WordCounts`."""

    source: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    unaccounted: int = 0

    def add(self, left_out: Mapping[str, int], unaccounted: int) -> None:
        """Add the words of a document that are not in its text."""
        self.unaccounted += unaccounted
        for reason, count in left_out.items():
            _add(self.left_out, reason, count)

    def to_json(self) -> dict[str, Any]:
        """Return the counts for a report."""
        left_out = dict(sorted(self.left_out.items()))
        read = self.source - sum(left_out.values()) - self.unaccounted
        return {
            "source": self.source,
            "read": read,
            "left_out": left_out,
            "unaccounted": self.unaccounted,
        }


@dataclass(slots=True)
class SourceTally:
    """The counts of one source.

    `characters` is the number of characters in chunks. `boilerplate_chunks` and
    `boilerplate_characters` count the boilerplate that was left out. `guessed` counts documents
    whose encoding is a guess, `hidden` texts that people do not see, and `secrets` places that look
    like a secret. `words` accounts for the words of the documents.
    """

    name: str
    documents: int = 0
    chunks: int = 0
    characters: int = 0
    skipped: int = 0
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    oversize: int = 0
    copies: int = 0
    boilerplate_chunks: int = 0
    boilerplate_characters: int = 0
    replaced: int = 0
    guessed: int = 0
    hidden: dict[str, int] = field(default_factory=dict)
    secrets: int = 0
    words: WordTally = field(default_factory=WordTally)


class Figures(NamedTuple):
    """How much of a document is in the index, in chunks and characters, and how much is not.

    `left_out` counts chunks of only boilerplate, `cut_off` all characters of boilerplate, and
    `words` the words of the document's source.
    """

    chunks: int = 0
    characters: int = 0
    left_out: int = 0
    cut_off: int = 0
    words: int = 0


class Remarks(NamedTuple):
    """The report's remarks on a document.

    `replaced` counts its replaced characters, `lacking` is the extra that its reader needed, and
    `is_guessed` is whether its encoding is a guess. Each finding has group, kind, line and count.
    If not all words were read, `words` has the words of the source, the words left out, by reason,
    and the unaccounted words. `plain_ending` is the extension of a file that was read as plain text
    because no reader handles it.
    """

    replaced: int = 0
    lacking: str = ""
    findings: tuple[tuple[str, str, int | None, int], ...] = ()
    is_guessed: bool = False
    words: tuple[int, Mapping[str, int], int] | None = None
    plain_ending: str = ""

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return the remarks on a document."""
        reading = document.reading
        decoding = [Finding(f"guessed encoding: {name}", None) for name in reading.guessed]
        if document.replaced:
            decoding.append(Finding(Kind.REPLACED, None, document.replaced))
        scan = [
            Finding(kind, None, count)
            for kind, count in ((Kind.UNSURE, reading.unsure), _unseen(reading))
            if count
        ]
        groups = (
            (Group.DECODING, decoding),
            (Group.HIDDEN, reading.hidden),
            (Group.SECRET, document.findings),
            (Group.SCAN, scan),
            (Group.DAMAGE, [Finding(part, None) for part in reading.damaged]),
        )
        findings = tuple(
            (group, finding.kind, finding.line, finding.count)
            for group, found in groups
            for finding in found
        )
        counts = reading.words
        words = None
        if counts and (counts.left_out or counts.unaccounted):
            words = counts.source, dict(counts.left_out), counts.unaccounted
        return cls(
            document.replaced,
            reading.lacking,
            findings,
            bool(reading.guessed),
            words,
            _plain_ending(document),
        )


def _plain_ending(document: Document) -> str:
    """Return the extension of a file read as plain text because it has no reader; else ""."""
    ending = PurePosixPath(document.path).suffix.lower()
    is_plain = document.reader == plain.READER.version and ending not in plain.READER.media_types
    return ending if is_plain and find_by_name(document.path) is None else ""


def _unseen(reading: Reading) -> tuple[str, int]:
    """Return the kind and the count of a finding about pages that were not read."""
    if not (reading.unseen and reading.looked_at):
        return Kind.UNSEEN, reading.unseen
    pages = f"read {reading.looked_at:,} of {reading.looked_at + reading.unseen:,} pages: "
    if reading.is_hurried:
        return pages + "they took too long, and the next build tries again", 1
    return pages + "ocr_pages in [[sources]] sets how many are read", 1


class BuildReport:
    """Collects the outcome of every document; equal sources give equal reports."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._tallies = {name: SourceTally(name) for name in sources}
        self._skipped: list[Skipped] = []
        self._copies: list[dict[str, str]] = []
        self._findings: list[dict[str, str | int | None]] = []
        self._lacking: dict[str, int] = {}
        self._plain_text: dict[str, int] = {}
        self._words: list[dict[str, Any]] = []

    def skip(self, skipped: Skipped) -> None:
        """Add an input that is not in the index."""
        tally = self._tallies[skipped.source]
        tally.skipped += 1
        _add(tally.skipped_by_reason, skipped.reason)
        tally.oversize += skipped.reason == Reason.OVERSIZE
        self._skipped.append(skipped)

    def read(self, source: str, path: str, remarks: Remarks) -> None:
        """Add the findings in a document, whether it is indexed or a copy."""
        tally = self._tallies[source]
        tally.replaced += remarks.replaced
        if remarks.lacking:
            _add(self._lacking, remarks.lacking)
        if remarks.plain_ending:
            _add(self._plain_text, remarks.plain_ending)
        tally.guessed += remarks.is_guessed
        if remarks.words is not None:
            total, left_out, unaccounted = remarks.words
            counted = WordTally(total, dict(left_out), unaccounted)
            tally.words.add(counted.left_out, counted.unaccounted)
            self._words.append({"source": source, "path": path, "words": counted.to_json()})
        for group, kind, line, count in remarks.findings:
            tally.secrets += count if group == Group.SECRET else 0
            if group == Group.HIDDEN:
                _add(tally.hidden, kind, count)
            place = {"source": source, "path": path, "group": group}
            self._findings.append({**place, "kind": kind, "line": line, "count": count})

    def copy(
        self, source: str, path: str, kept_source: str, kept_path: str, words: int = 0
    ) -> None:
        """Add a document that was left out as a copy, with the `words` of its source."""
        self._tallies[source].copies += 1
        self._tallies[source].words.source += words
        place = {"source": source, "path": path}
        self._copies.append({**place, "kept_source": kept_source, "kept_path": kept_path})

    def index(self, source: str, figures: Figures, documents: int = 1) -> None:
        """Add indexed documents, with their summed figures."""
        tally = self._tallies[source]
        tally.documents += documents
        tally.chunks += figures.chunks
        tally.characters += figures.characters
        tally.boilerplate_chunks += figures.left_out
        tally.boilerplate_characters += figures.cut_off
        tally.words.source += figures.words

    def to_json(self) -> dict[str, Any]:
        """Return the content of `report.json`: counts by source, then everything left out.

        `words` has the totals, and each document with words that its text does not contain.
        """
        total = WordTally()
        for tally in self._tallies.values():
            total.source += tally.words.source
            total.add(tally.words.left_out, tally.words.unaccounted)
        return {
            "sources": [_plain(tally) for tally in self._tallies.values()],
            "skipped": [asdict(skipped) for skipped in self._skipped],
            "copies": self._copies,
            "findings": self._findings,
            "words": {**total.to_json(), "documents": self._words},
            "plain_text": dict(sorted(self._plain_text.items())),
            **({"lacking": self._lacking} if self._lacking else {}),
        }


def without_secrets(refusals: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the refusals; a text that may contain a secret is replaced by an empty one."""
    return [
        {**refusal, "text": "" if find_secrets(refusal["text"]) else refusal["text"]}
        for refusal in refusals
    ]


def count_reasons(report: dict[str, Any]) -> dict[str, int]:
    """Count the reasons for skipping in a report."""
    return dict(sorted(Counter(entry["reason"] for entry in report["skipped"]).items()))


def _add(counts: dict[str, int], name: str, count: int = 1) -> None:
    counts[name] = counts.get(name, 0) + count


def _plain(tally: SourceTally) -> dict[str, Any]:
    values = {**asdict(tally), "words": tally.words.to_json()}
    for name in ("skipped_by_reason", "hidden"):
        values[name] = dict(sorted(values[name].items()))
    return values
