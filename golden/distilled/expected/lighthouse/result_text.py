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
    return "\n\n".join(paragraphs) if response.hits else "Nothing found."


def _format_hit(rank: int, hit: Hit) -> str:
    chunk = hit.chunk
    # Most documents carry their title as their first heading as well.
    section = chunk.section[1:] if chunk.section[:1] == [chunk.title] else chunk.section
    lines = [
        f"{rank:3}. {hit.score:.3f}  {_printable(' > '.join([chunk.title, *section]))}",
        f"     {_printable(chunk.url or chunk.path)}",
    ]
    snippet = textwrap.shorten(_printable(chunk.text), SNIPPET_LENGTH, placeholder=" ...")
    lines += textwrap.wrap(snippet, 100, initial_indent="     ", subsequent_indent="     ")
    return "\n".join(lines)


def _printable(text: str) -> str:
    # A document may hold control sequences that would be carried out by the terminal.
    return "".join(character if character.isprintable() else " " for character in text)
