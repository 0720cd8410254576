"""Prints what a search found, for people in a terminal and for programs."""

import json
import re
import textwrap
from collections.abc import Iterator

from .retrieval.snippets import ShownHit, ShownResponse

MAX_TITLE_CHARACTERS = 100
INDENT = " " * 5

_COMMANDS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON may hold as it is, but a terminal obeys: controls, ends of lines, directions."""


def format_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON, in which characters that a terminal would obey are escapes."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable(text: str) -> str:
    """Return a text in one line without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)


def format_response(response: ShownResponse, *, explain: bool = False) -> str:
    """Return a paragraph for each hit: rank, score and place, its address, its snippet.

    `explain` adds the mode and the reason, what stages did, and where each score comes from.
    """
    paragraphs = ["\n".join(map(printable, _describe_search(response, explain)))]
    for rank, hit in enumerate(response.hits, start=1):
        paragraphs.append("\n".join(_describe_hit(rank, hit, explain)))
    return "\n\n".join(
        filter(None, paragraphs if response.hits else [*paragraphs, "Nothing found."])
    )


def _describe_search(response: ShownResponse, explain: bool) -> Iterator[str]:
    if explain:
        yield f"mode {response.mode}, reason {response.reason}, match {response.match}"
    elif response.degraded:
        yield f"Searched by keywords only ({response.reason})."
    if response.match == "none" and response.hits:
        yield "Nothing in these documents matches well; the nearest passages are:"
    if unknown := response.unknown_identifiers:
        verb = "is" if len(unknown) == 1 else "are"
        yield f"{', '.join(unknown)} {verb} nowhere in these documents."
    for stage, details in response.stages.items():
        if "notice" in details:
            yield details["notice"]
        if explain or "failed" in details or (stage == "minimum_score" and not response.hits):
            yield f"{stage}: {', '.join(f'{name} {value}' for name, value in details.items())}"


def _describe_hit(rank: int, hit: ShownHit, explain: bool) -> Iterator[str]:
    title = textwrap.shorten(
        " > ".join(hit.titled_section()), MAX_TITLE_CHARACTERS, placeholder=" ..."
    )
    yield f"{rank:3}. {hit.score:.3f}  {printable(title)}"
    yield INDENT + printable(hit.url or hit.path)
    if explain:
        ranks = hit.ranks.to_json()
        scores = [
            f"{lane} {'-' if score is None else f'{score:.4f}'}"
            + (f" (rank {ranks[lane]})" if ranks.get(lane) else "")
            for lane, score in hit.scores.to_json().items()
        ]
        boosts = [f"{stage} x{factor:.3f}" for stage, factor in hit.boosts.items()]
        yield INDENT + ", ".join([*scores, *boosts])
    for line in map(printable, (hit.snippet or "").splitlines()):
        yield from textwrap.wrap(line, 100, initial_indent=INDENT, subsequent_indent=INDENT)
    for place in hit.also_at:
        yield f"{INDENT}also at {printable(place.url or place.path)}"
