"""Prints what a search found, for people in a terminal and for programs."""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence

from .retrieval.results import Hit, Reason, SearchResponse

SNIPPET_CHARACTERS = 240

REASONS: Mapping[Reason, str] = {
    "default": "both lanes were asked and joined",
    "requested": "this mode was asked for",
    "identifier": "the query is nothing but an identifier, which keywords find exactly",
    "no_vectors": "there is no vector for the query, so only keywords could be compared",
    "embedder_unavailable": "the service that embeds queries does not answer",
}

_COMMANDS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON may hold as it is, but a terminal obeys: controls, ends of lines, directions."""


def format_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON, in which characters that a terminal would obey are escapes."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equally many cells as lines; the first column left, the others right."""
    first, *others = ([len(cell) for cell in column] for column in zip(*rows, strict=True))
    lines = []
    for row in rows:
        cells = [cell.rjust(max(width)) for cell, width in zip(row[1:], others, strict=True)]
        lines.append("  ".join([row[0].ljust(max(first)), *cells]).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return a text in one line without control characters, which a terminal would carry out."""
    return "".join(character if character.isprintable() else " " for character in text)


def format_response(response: SearchResponse) -> str:
    """Return a paragraph for each hit: rank, score and place, its address, how it begins."""
    failed = [stage["failed"] for stage in response.stages.values() if "failed" in stage]
    paragraphs = ["\n".join(map(printable, failed)), _unknown_identifiers(response)]
    if response.degraded:
        paragraphs.append(f"Searched by keywords only ({response.reason}).")
    paragraphs += [_format_hit(rank, hit) for rank, hit in enumerate(response.hits, start=1)]
    dropped = response.stages.get("minimum_score", {})
    if not response.hits and "best_dropped" in dropped:
        paragraphs.append(
            f"Nothing found: {dropped['dropped']} passages are below the minimum score,"
            f" the best of them with {dropped['best_dropped']:.3f}."
        )
    elif not response.hits:
        paragraphs.append("Nothing found.")
    return "\n\n".join(filter(None, paragraphs))


def explain_response(response: SearchResponse) -> str:
    """Return mode and reason in words, then each hit's score, its lanes' scores, its boosts."""
    lines = [f"mode {response.mode}: {REASONS[response.reason]}", _unknown_identifiers(response)]
    for stage, said in response.stages.items():
        details = ", ".join(f"{name} {value}" for name, value in said.items())
        lines.append(f"{stage}: {printable(details)}")
    heading = "\n".join(filter(None, lines))
    if not response.hits:
        return f"{heading}\n\nNothing found."
    boosts = list(dict.fromkeys(name for hit in response.hits for name in hit.boosts))
    read = ["read"] if any(hit.scores.rerank is not None for hit in response.hits) else []
    rows = [["#", "score", *read, "semantic", "rank", "keyword", "rank", *boosts]]
    for number, hit in enumerate(response.hits, start=1):
        scores, ranks = hit.scores, hit.ranks
        factors = [f"x{hit.boosts[name]:.3f}" if name in hit.boosts else "-" for name in boosts]
        lanes = [scores.semantic, ranks.semantic, scores.keyword, ranks.keyword]
        cells = [hit.score, *(scores.rerank for _ in read), *lanes]
        rows.append([str(number), *map(_cell, cells), *factors])
    passages = [f"{_place(hit)}  ({printable(hit.path)})" for hit in response.hits]
    table = zip(format_table(rows).split("\n"), ["passage", *passages], strict=True)
    return "\n".join([heading, "", *(f"{line}  {passage}" for line, passage in table)])


def _unknown_identifiers(response: SearchResponse) -> str:
    unknown = response.unknown_identifiers
    verb = "is" if len(unknown) == 1 else "are"
    return printable(f"{', '.join(unknown)} {verb} nowhere in these documents." if unknown else "")


def _format_hit(rank: int, hit: Hit) -> str:
    indent = " " * 5
    snippet = textwrap.shorten(printable(hit.text), SNIPPET_CHARACTERS, placeholder=" ...")
    copies = (place.url or place.path for place in hit.also_at)
    return "\n".join(
        [
            f"{rank:3}. {hit.score:.3f}  {_place(hit)}",
            indent + printable(hit.url or hit.path),
            *textwrap.wrap(snippet, 100, initial_indent=indent, subsequent_indent=indent),
            *(f"{indent}also at {printable(copy)}" for copy in copies),
        ]
    )


def _place(hit: Hit) -> str:
    return printable(" > ".join(hit.titled_section()))


def _cell(value: float | int | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.4f}"
