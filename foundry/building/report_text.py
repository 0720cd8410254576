"""Formats the report of a build as text."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from foundry.building.report import Group, Kind
from foundry.config.project import Config
from foundry.documents.reasons import REMEDIES, Reason, extras_of
from foundry.errors import EmptyBuildError, LostWordsError, StrictBuildError, install_command
from foundry.files import CONFIG_NAME
from foundry.sources.names import INCLUDING_SECRETS
from foundry.state.user_cache import is_adopted
from foundry.terminal import count_of, format_table, list_briefly

NAMED = 3
"""How many inputs are listed per reason."""


def to_read_scans(adopted: bool) -> str:
    """Return how to turn on OCR; an `adopted` project has no foundry.toml of its own."""
    return f"to read scans: {_in_sources('ocr = true', adopted)}, and {install_command('ocr')}"


def to_read_larger(adopted: bool) -> str:
    """Return how to raise the size limit of files; see `to_read_scans`."""
    return f"to read larger files: {_in_sources('max_bytes', adopted)}"


def _in_sources(key: str, adopted: bool) -> str:
    project = " of a project, which foundry init writes" if adopted else ""
    return f"{key} in [[sources]]{project}"


def check_strictly(report: Mapping[str, Any]) -> None:
    """Raise StrictBuildError with the lines of `find_failures`, if there are any."""
    if failures := find_failures(report):
        raise StrictBuildError(failures, list_briefly(failures))


def find_failures(report: Mapping[str, Any]) -> list[str]:
    """Return lines on inputs left out, possible secrets, and chunks that were not embedded."""
    skipped = [
        f"{_place(entry)}: skipped: {entry['reason']}{_detail(entry)}"
        for entry in report["skipped"]
        if entry["reason"] != Reason.NO_DOCUMENT
    ]
    secrets = [
        f"{_place(finding)}: may be a secret: {finding['kind']}"
        for finding in report["findings"]
        if finding["group"] == Group.SECRET
    ]
    refused = [
        f"a chunk with sha256 {entry['sha256']}: not embedded: {entry['reason']}"
        for entry in report.get("refused", ())
    ]
    return [*skipped, *secrets, *refused]


def format_report(
    report: Mapping[str, Any], seconds: Mapping[str, float], file: object, *, adopted: bool = False
) -> str:
    """Return a table of sources, without empty columns, and the findings.

    `file` is the path of the full report; `adopted` documents have no foundry.toml to change.
    """
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
    parts = [format_table([["source", *columns], *cells]), *_sections(report, file, adopted)]
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


def describe_skipped(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield each reason for skipping inputs, with its count and some examples."""
    by_reason: dict[str, list[str]] = {}
    for entry in report["skipped"]:
        by_reason.setdefault(entry["reason"], []).append(f"{_place(entry)}{_detail(entry)}")
    for reason, entries in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        yield f"  {len(entries):>6,}  {reason}"
        yield from (f"        {line}" for line in list_briefly(entries, NAMED).splitlines())
        if remedy := REMEDIES.get(reason):
            yield f"        to read them: {remedy}"


def describe_words(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line that accounts for all words, and lines for the documents that lost most."""
    words = report.get("words") or {"source": 0}
    if not words["source"]:
        return
    left_out = sum(words["left_out"].values())
    count = count_of(words["source"], "word")
    parts = [f"{count} in the sources: {_share(words['read'], words)} read"]
    if left_out:
        reasons = sorted(words["left_out"].items(), key=lambda each: (-each[1], each[0]))
        named = ", ".join(reason for reason, _ in reasons[:NAMED])
        parts.append(f"{_share(left_out, words)} left out ({named})")
    parts.append(f"{_share(words['unaccounted'], words)} unaccounted")
    yield ", ".join(parts)
    lost = [each for each in words["documents"] if each["words"]["unaccounted"]]
    for entry in sorted(lost, key=lambda each: -each["words"]["unaccounted"])[:NAMED]:
        counts = entry["words"]
        share = _share(counts["unaccounted"], counts)
        yield f"  {_place(entry)}: {counts['unaccounted']:,} unaccounted ({share})"
    if lost:
        yield "  foundry inspect --left-out shows them"


def _share(count: int, words: Mapping[str, int]) -> str:
    """Format a share of a source's words; only an exact 0 is shown as 0."""
    share = 100 * count / max(words["source"], 1)
    if count and share < _LEAST_SHARE:
        return f"under {_LEAST_SHARE} %"
    # The share is rounded down, so that 100 % means all words.
    return f"{int(share * 100) / 100:g} %"


_LEAST_SHARE = 0.01


def check_words(report: Mapping[str, Any], most: float | None) -> None:
    """Raise LostWordsError if a larger share of the words than `most` is unaccounted for."""
    words = report["words"]
    if most is not None and words["unaccounted"] > most * words["source"]:
        share = words["unaccounted"] / words["source"]
        raise LostWordsError(share, most, [*describe_words(report)][1:])


def _sections(report: Mapping[str, Any], file: object, adopted: bool) -> Iterator[str]:
    yield from describe_words(report)
    reasons = Counter(entry["reason"] for entry in report["skipped"])
    if reasons:
        yield f"{sum(reasons.values()):,} skipped:"
        yield from describe_skipped(report)
    if any(count > NAMED for count in reasons.values()):
        yield f"all of them are listed in {file}"
    if Reason.OVERSIZE in reasons:
        yield to_read_larger(adopted)
    if Reason.LOOKS_SECRET in reasons:
        yield INCLUDING_SECRETS
    is_unseen = any(finding["kind"] == Kind.UNSEEN for finding in report["findings"])
    if Reason.NEEDS_OCR in reasons or is_unseen:
        yield to_read_scans(adopted)
    if plain := report.get("plain_text"):
        endings = ", ".join(f"{ending} ({count:,})" for ending, count in plain.items())
        yield f"read as plain text, since no reader handles these extensions: {endings}"
    for extra, count in report.get("lacking", {}).items():
        yield f"{count:,} read as plain text; for their outline: {install_command(extra)}"
    if unlisted := report.get("unlisted_versions"):
        names = ", ".join(json.dumps(name, ensure_ascii=False) for name in unlisted)
        yield f"folders of versions that [search.versions] does not list: {names}"
    for group, heading in (
        (Group.SECRET, "may be secrets (the values are not shown):"),
        (Group.HIDDEN, "not visible to people, and left out:"),
        (Group.DECODING, "not, or not entirely, in UTF-8:"),
        (Group.SCAN, "pages that are pictures:"),
        (Group.DAMAGE, "read without these parts, which are missing or damaged:"),
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


def sum_up_left_out(report: Mapping[str, Any], *, adopted: bool) -> Iterator[str]:
    """Yield how many inputs were not read and why, and how to read more of them."""
    reasons = Counter(entry["reason"] for entry in report["skipped"])
    del reasons[Reason.NO_DOCUMENT]
    if count := sum(reasons.values()):
        named = ", ".join(f"{reason} ({times:,})" for reason, times in reasons.most_common())
        yield f"{count_of(count, 'file')} left out: {named}"
    is_unseen = any(finding["kind"] == Kind.UNSEEN for finding in report["findings"])
    if extras := dict.fromkeys([*extras_of(reasons), *report.get("lacking", {})]):
        yield f"to read more of them: {install_command(*extras)}"
    if is_unseen or reasons.keys() & {Reason.NEEDS_OCR, Reason.PICTURE}:
        yield to_read_scans(adopted)


def _place(entry: Mapping[str, Any]) -> str:
    line = entry.get("line")
    return f"{entry['source']}: {entry['path']}" + (f":{line}" if line else "")


def _detail(entry: Mapping[str, Any]) -> str:
    return f" ({entry['detail']})" if entry["detail"] else ""


def nothing_to_index(config: Config, report: Mapping[str, Any]) -> EmptyBuildError:
    """Return the error for a build without any documents."""
    reasons = {entry["reason"] for entry in report["skipped"]}
    places = ", ".join(str(getattr(source, "path", source.name)) for source in config.sources)
    listed = "".join(f"\n{line}" for line in describe_skipped(report))
    is_table = all(source.type == "records" for source in config.sources)
    keys = "path and the names of columns" if is_table else "path or url, include and exclude"
    hint = f"check {keys} in {CONFIG_NAME}"
    adopted = is_adopted(config.root)
    if adopted:
        hint = "name a folder, a file or a url with documents that can be read"
    if reasons & {Reason.NEEDS_OCR, Reason.PICTURE}:
        hint = to_read_scans(adopted)
    elif Reason.OVERSIZE in reasons:
        hint = to_read_larger(adopted)
    return EmptyBuildError(f"no documents to index in {places}{listed}", hint=hint)
