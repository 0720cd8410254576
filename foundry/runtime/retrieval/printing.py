"""Search results for people who read them in a terminal."""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence

from .results import Hit, Reason, SearchResponse

_COMMANDS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON may hold as it is, but a terminal obeys: controls, ends of lines, directions."""


def format_json(value: object, *, indent: int | None = None) -> str:
    """A value as JSON, in which characters that a terminal would obey are escapes."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equally many cells, the first one the heading; all but the first column right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *others = row
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


SNIPPET_LENGTH = 240
"""Characters."""


def format_response(response: SearchResponse) -> str:
    """One paragraph a hit: rank, score and place, then its address, then how it begins."""
    paragraphs = [_format_hit(rank, hit) for rank, hit in enumerate(response.hits, start=1)]
    if response.degraded:
        paragraphs.insert(0, f"Searched by keywords only ({response.reason}).")
    if response.unknown_identifiers:
        paragraphs.insert(0, describe_unknown(response))
    failed = [said["failed"] for said in response.stages.values() if "failed" in said]
    if failed:
        paragraphs.insert(0, "\n".join(map(printable, failed)))
    if not response.hits:
        paragraphs.append(describe_nothing(response))
    return "\n\n".join(paragraphs)


def describe_unknown(response: SearchResponse) -> str:
    """What to say where identifiers of the query stand nowhere in the index."""
    unknown = response.unknown_identifiers
    verb = "is" if len(unknown) == 1 else "are"
    return printable(f"{', '.join(unknown)} {verb} nowhere in these documents.")


def describe_nothing(response: SearchResponse) -> str:
    """What to say where there are no hits."""
    dropped = response.stages.get("minimum_score", {})
    if "best_dropped" not in dropped:
        return "Nothing found."
    return (
        f"Nothing found: {dropped['dropped']} passages are below the minimum score,"
        f" the best of them with {dropped['best_dropped']:.3f}."
    )


def _format_hit(rank: int, hit: Hit) -> str:
    chunk = hit
    lines = [
        f"{rank:3}. {hit.score:.3f}  {place_of(hit)}",
        f"     {printable(chunk.url or chunk.path)}",
    ]
    snippet = textwrap.shorten(printable(chunk.text), SNIPPET_LENGTH, placeholder=" ...")
    lines += textwrap.wrap(snippet, 100, initial_indent="     ", subsequent_indent="     ")
    lines += [f"     also at {printable(place.url or place.path)}" for place in chunk.also_at]
    return "\n".join(lines)


def place_of(hit: Hit) -> str:
    """The title and the headings under which a hit stands, in one line."""
    return printable(" > ".join(hit.titled_section()))


def printable(text: str) -> str:
    """The text in one line without control characters."""
    # A document may hold control sequences that would be carried out by the terminal.
    return "".join(character if character.isprintable() else " " for character in text)


REASONS: Mapping[Reason, str] = {
    "default": "both lanes were asked and joined",
    "requested": "this mode was asked for",
    "identifier": "the query is nothing but an identifier, which keywords find exactly",
    "no_vectors": "there is no vector for the query, so only keywords could be compared",
    "embedder_unavailable": "the service that embeds queries does not answer",
}


def explain_response(response: SearchResponse) -> str:
    """Mode and reason in words, then each hit's score, its lanes' scores and ranks, its boosts."""
    heading = f"mode {response.mode}: {REASONS[response.reason]}"
    if response.unknown_identifiers:
        heading += f"\n{describe_unknown(response)}"
    for stage, said in response.stages.items():
        details = ", ".join(f"{name} {value}" for name, value in said.items())
        heading += f"\n{stage}: {printable(details)}"
    if not response.hits:
        return f"{heading}\n\nNothing found."
    boosts = list(dict.fromkeys(name for hit in response.hits for name in hit.boosts))
    read = ("read",) if any(hit.scores.rerank is not None for hit in response.hits) else ()
    columns = ("#", "score", *read, "semantic", "rank", "keyword", "rank", *boosts, "passage")
    rows = [_row(number, hit, boosts, read) for number, hit in enumerate(response.hits, start=1)]
    passages = [row[-1] for row in rows]
    table = format_table([columns[:-1], *(row[:-1] for row in rows)]).split("\n")
    joined = zip(table, [columns[-1], *passages], strict=True)
    return "\n".join([heading, "", *(f"{line}  {passage}" for line, passage in joined)])


def _row(number: int, hit: Hit, boosts: list[str], read: tuple[str, ...]) -> tuple[str, ...]:
    return (
        str(number),
        f"{hit.score:.4f}",
        *(_score(hit.scores.rerank) for _ in read),
        _score(hit.scores.semantic),
        _rank(hit.ranks.semantic),
        _score(hit.scores.keyword),
        _rank(hit.ranks.keyword),
        *(f"x{hit.boosts[name]:.3f}" if name in hit.boosts else "-" for name in boosts),
        f"{place_of(hit)}  ({printable(hit.path)})",
    )


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)
