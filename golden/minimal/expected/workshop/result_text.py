"""Search results for people who read them in a terminal."""

import textwrap

from .results import Hit, SearchResponse

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
    chunk = hit.chunk
    lines = [
        f"{rank:3}. {hit.score:.3f}  {place_of(hit)}",
        f"     {printable(chunk.url or chunk.path)}",
    ]
    snippet = textwrap.shorten(printable(chunk.text), SNIPPET_LENGTH, placeholder=" ...")
    lines += textwrap.wrap(snippet, 100, initial_indent="     ", subsequent_indent="     ")
    lines += [
        f"     also at {printable(place['url'] or place['path'] or '')}" for place in chunk.also_at
    ]
    return "\n".join(lines)


def place_of(hit: Hit) -> str:
    """The title and the headings under which a hit stands, in one line."""
    return printable(" > ".join(hit.chunk.titled_section()))


def printable(text: str) -> str:
    """The text in one line without control characters."""
    # A document may hold control sequences that would be carried out by the terminal.
    return "".join(character if character.isprintable() else " " for character in text)
