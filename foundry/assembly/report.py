"""The report of a build: counts source by source, for the index and for people to read."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

from foundry.errors import StrictBuildError, install_command
from foundry.records import NEEDS_OCR, Document, Finding, Reading, Skipped
from foundry.secrets import find_secrets
from foundry.sources.names import INCLUDING_SECRETS, LOOKS_SECRET
from foundry.terminal import format_table, list_briefly

OVERSIZE = "over the size limit"
DECODING, HIDDEN, SECRET, SCAN = "decoding", "hidden", "secret", "scan"
UNSURE, UNSEEN = "lines of a picture that may be misread", "pages that are pictures, not read"
REPLACED, GUESSED = "replaced characters", "guessed encoding: "
"""The groups of findings."""
TO_READ_SCANS = f"to read scans: ocr = true in [[sources]], and {install_command('ocr')}"


@dataclass(slots=True)
class SourceTally:
    """The counts of one source.

    `characters` are those of chunks; `boilerplate` those of chunks, or their ends, that were left
    out; `guessed` counts the documents whose encoding is a guess, `hidden` what people do not see,
    `secrets` the places that look like one.
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


class Figures(NamedTuple):
    """What went into the index of a document: chunks and their characters; and what of it, as
    boilerplate, did not: chunks left out, and characters cut off in all."""

    chunks: int = 0
    characters: int = 0
    left_out: int = 0
    cut_off: int = 0


class Remarks(NamedTuple):
    """What a report says of a document: replaced characters, the extra that reading it lacked, and
    findings: group, kind, line and count of each."""

    replaced: int = 0
    lacking: str = ""
    findings: Sequence[tuple[str, str, int | None, int]] = ()

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return what there is to say of a document."""
        reading = document.reading
        decoding = [Finding(GUESSED + name, None) for name in reading.guessed]
        if document.replaced:
            decoding.append(Finding(REPLACED, None, document.replaced))
        scan = [
            Finding(kind, None, count)
            for kind, count in ((UNSURE, reading.unsure), _unseen(reading))
            if count
        ]
        groups = (
            *((DECODING, decoding), (HIDDEN, reading.hidden), (SECRET, document.findings)),
            (SCAN, scan),
        )
        findings = tuple(
            (group, finding.kind, finding.line, finding.count)
            for group, found in groups
            for finding in found
        )
        return cls(document.replaced, reading.lacking, findings)


def _unseen(reading: Reading) -> tuple[str, int]:
    """Return how to say that pages were not read, and how often."""
    if not (reading.unseen and reading.looked_at):
        return UNSEEN, reading.unseen
    pages = f"read {reading.looked_at:,} of {reading.looked_at + reading.unseen:,} pages: "
    if reading.is_hurried:
        return pages + "they took too long, and the next build tries again", 1
    return pages + "ocr_pages in [[sources]] sets how many", 1


class BuildReport:
    """Collects what becomes of every document; the same sources give the same report."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._tallies = {name: SourceTally(name) for name in sources}
        self._skipped: list[Skipped] = []
        self._copies: list[dict[str, str]] = []
        self._findings: list[dict[str, str | int | None]] = []
        self._lacking: dict[str, int] = {}

    def skip(self, skipped: Skipped) -> None:
        """Note an input that is not in the index."""
        tally = self._tallies[skipped.source]
        tally.skipped += 1
        _add(tally.skipped_by_reason, skipped.reason)
        tally.oversize += skipped.reason == OVERSIZE
        self._skipped.append(skipped)

    def read(self, source: str, path: str, remarks: Remarks) -> None:
        """Note what was found in a document, whether it stays in the index or is a copy."""
        tally = self._tallies[source]
        tally.replaced += remarks.replaced
        if remarks.lacking:
            _add(self._lacking, remarks.lacking)
        tally.guessed += any(
            group == DECODING and kind.startswith(GUESSED) for group, kind, *_ in remarks.findings
        )
        for group, kind, line, count in remarks.findings:
            tally.secrets += count if group == SECRET else 0
            if group == HIDDEN:
                _add(tally.hidden, kind, count)
            place = {"source": source, "path": path, "group": group}
            self._findings.append({**place, "kind": kind, "line": line, "count": count})

    def copy(self, source: str, path: str, kept_source: str, kept_path: str) -> None:
        """Note a document that was left out as a copy of another."""
        self._tallies[source].copies += 1
        place = {"source": source, "path": path}
        self._copies.append({**place, "kept_source": kept_source, "kept_path": kept_path})

    def index(self, source: str, figures: Figures, documents: int = 1) -> None:
        """Note documents that went into the index, with the sums of their figures."""
        tally = self._tallies[source]
        tally.documents += documents
        tally.chunks += figures.chunks
        tally.characters += figures.characters
        tally.boilerplate_chunks += figures.left_out
        tally.boilerplate_characters += figures.cut_off

    def to_json(self) -> dict[str, Any]:
        """Return what `report.json` holds: counts by source, then everything left out."""
        return {
            "sources": [_plain(tally) for tally in self._tallies.values()],
            "skipped": [asdict(skipped) for skipped in self._skipped],
            "copies": self._copies,
            "findings": self._findings,
            **({"lacking": self._lacking} if self._lacking else {}),
        }


def without_secrets(refusals: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Texts that a model did not embed; of those that may hold a secret nothing is quoted."""
    return [
        {**refusal, "text": "" if find_secrets(refusal["text"]) else refusal["text"]}
        for refusal in refusals
    ]


def check_strictly(report: Mapping[str, Any]) -> None:
    """Raise StrictBuildError, with a line for each, for `find_failures`."""
    if failures := find_failures(report):
        raise StrictBuildError(failures, list_briefly(failures))


def find_failures(report: Mapping[str, Any]) -> list[str]:
    """Return what a strict build refuses, a line each: inputs left out, possible secrets."""
    skipped = [
        f"{_place(entry)}: skipped: {entry['reason']}"
        + (f" ({entry['detail']})" if entry["detail"] else "")
        for entry in report["skipped"]
    ]
    secrets = [
        f"{_place(finding)}: may be a secret: {finding['kind']}"
        for finding in report["findings"]
        if finding["group"] == SECRET
    ]
    refused = [
        f"a chunk with sha256 {entry['sha256']}: not embedded: {entry['reason']}"
        for entry in report.get("refused", ())
    ]
    return [*skipped, *secrets, *refused]


def format_report(report: Mapping[str, Any], seconds: Mapping[str, float]) -> str:
    """Return a table of sources, with the columns that have something to tell, and findings."""
    rows = [_row(entry, seconds) for entry in report["sources"]]
    if len(rows) > 1:
        total: Counter[str] = Counter()
        for row in rows:
            total.update(row)
        rows.append(dict(total))
    names = [*(entry["name"] for entry in report["sources"]), "total"]
    columns = [name for name in rows[0] if name in _ALWAYS or any(row[name] for row in rows)]
    cells = [
        [name, *(_number(column, row[column]) for column in columns)]
        for name, row in zip(names, rows, strict=False)
    ]
    parts = [format_table([["source", *columns], *cells]), *_sections(report)]
    return "\n".join(parts)


_ALWAYS = ("documents", "chunks", "characters", "seconds")
_COLUMNS = (
    *("documents", "chunks", "characters", "skipped", "oversize", "copies", "boilerplate"),
    *("replaced", "guessed", "hidden", "secrets", "seconds"),
)


def _row(entry: Mapping[str, Any], seconds: Mapping[str, float]) -> dict[str, Any]:
    values = {
        **entry,
        "boilerplate": entry["boilerplate_characters"],
        "hidden": sum(entry["hidden"].values()),
        "seconds": seconds.get(entry["name"], 0.0),
    }
    return {column: values[column] for column in _COLUMNS}


def _number(column: str, value: float) -> str:
    return f"{value:,.1f}" if column == "seconds" else f"{value:,}"


def _sections(report: Mapping[str, Any]) -> Iterator[str]:
    reasons = Counter(entry["reason"] for entry in report["skipped"])
    if reasons:
        yield f"{sum(reasons.values()):,} skipped:"
        yield from (f"  {count:>6,}  {reason}" for reason, count in reasons.most_common())
    # A private key under another name is left out whatever `include` says.
    if any(
        entry["reason"] == LOOKS_SECRET and entry["detail"].endswith(" in include")
        for entry in report["skipped"]
    ):
        yield INCLUDING_SECRETS
    is_unseen = any(finding["kind"] == UNSEEN for finding in report["findings"])
    if NEEDS_OCR in reasons or is_unseen:
        yield TO_READ_SCANS
    for extra, count in report.get("lacking", {}).items():
        yield f"{count:,} read as plain text; for their outline: {install_command(extra)}"
    if unlisted := report.get("unlisted_versions"):
        names = ", ".join(json.dumps(name, ensure_ascii=False) for name in unlisted)
        yield f"versions of pages that folders in [search.versions] does not name: {names}"
    for group, heading in (
        (SECRET, "may be secrets (what they are is not shown):"),
        (HIDDEN, "not seen by people, and left out:"),
        (DECODING, "not in UTF-8, or not throughout:"),
        (SCAN, "pages that are pictures:"),
    ):
        lines = [
            f"{_place(finding)}: {finding['kind']}"
            + (f", {finding['count']:,} times" if finding["count"] > 1 else "")
            for finding in report["findings"]
            if finding["group"] == group
        ]
        if lines:
            yield heading
            yield list_briefly(lines)


def _place(entry: Mapping[str, Any]) -> str:
    line = entry.get("line")
    return f"{entry['source']}: {entry['path']}" + (f":{line}" if line else "")


def _add(counts: dict[str, int], name: str, count: int = 1) -> None:
    counts[name] = counts.get(name, 0) + count


def _plain(tally: SourceTally) -> dict[str, Any]:
    values = asdict(tally)
    for name in ("skipped_by_reason", "hidden"):
        values[name] = dict(sorted(values[name].items()))
    return values
