"""A limit in tokens beside the one in characters, for text that has many tokens a character."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from foundry.chunking.packing import Packer
from foundry.records import Piece

CountTokens = Callable[[str], int]


def limit_tokens(
    pieces: Iterator[Piece], packer: Packer, count_tokens: CountTokens, title: str
) -> Iterator[Piece]:
    """Yield the pieces, cut further where they and their headings have more than `max_tokens`.

    Headings take half of the limit at the most. A single character is not cut.
    """
    limit = packer.options.max_tokens
    if not limit:
        yield from pieces
        return
    for piece in pieces:
        above = count_tokens("\n".join((title, *piece.heading_path)))
        room = max(limit - above, limit // 2)
        open_pieces = [piece]
        while open_pieces:
            part = open_pieces.pop()
            length, tokens = part.end - part.start, count_tokens(packer.text[part.start : part.end])
            if tokens <= room or length < 2:
                yield part
                continue
            capacity = max(1, min(length * room // tokens, length - 1))
            options = packer.options.model_copy(update={"max_chars": capacity, "overlap": 0})
            smaller = replace(packer, options=options).split(part.start, part.end)
            open_pieces += [
                replace(part, start=span.start, end=span.end) for span in reversed(smaller)
            ]
