"""Makes a log of different queries of several kinds over any texts, determined by a seed.

Each kind has equally many queries of one word, of two words, and so on to twelve.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from hostile_queries import LETTERS, Words

SEED = 31
LENGTHS = range(1, 13)
EACH = 5
"""Number of queries of each kind and length."""

Draw = Callable[[random.Random, int], str]


def kinds(texts: Sequence[str]) -> dict[str, Draw]:
    """Return by kind the function that draws a query of a number of words."""
    words = Words.of(texts)

    def span(chooser: random.Random, length: int) -> str:
        while True:
            said = chooser.choice(texts).split()
            if len(said) >= length:
                start = chooser.randrange(len(said) - length + 1)
                return " ".join(said[start : start + length])

    def frequent(chooser: random.Random, length: int) -> str:
        return " ".join(chooser.choice(words.frequent[:200]) for _ in range(length))

    def rare(chooser: random.Random, length: int) -> str:
        return " ".join(chooser.choice(words.rare) for _ in range(length))

    def new(chooser: random.Random, length: int) -> str:
        """Replace a word of a span by one that no text has."""
        said = span(chooser, length).split()
        said[chooser.randrange(length)] = "".join(chooser.choices(LETTERS, k=8))
        return " ".join(said)

    def misspelt(chooser: random.Random, length: int) -> str:
        """Swap two letters of the longest word of a span."""
        said = span(chooser, length).split()
        place = max(range(length), key=lambda number: len(said[number]))
        word = said[place]
        cut = chooser.randrange(max(1, len(word) - 1))
        said[place] = word[:cut] + word[cut : cut + 2][::-1] + word[cut + 2 :]
        return " ".join(said)

    def question(chooser: random.Random, length: int) -> str:
        """Make a question from words that are neither frequent nor rare, with stop words."""
        begun = chooser.choice(("what is the", "how do I", "where can I find", "why does the"))
        asked = begun.split()[: length - 1]
        asked += [chooser.choice(words.frequent) for _ in range(length - len(asked))]
        return " ".join(asked)

    return {
        **{"span": span, "frequent": frequent, "rare": rare},
        **{"new": new, "misspelt": misspelt, "question": question},
    }


def make_log(draws: Mapping[str, Draw], each: int = EACH, seed: int = SEED) -> list[str]:
    """Return `each` queries of each kind and length, in random order."""
    chooser = random.Random(seed)
    log: dict[str, None] = {}
    for draw in draws.values():
        for length in LENGTHS:
            wanted = len(log) + each
            while len(log) < wanted:
                log[draw(chooser, length)] = None
    queries = [*log]
    chooser.shuffle(queries)
    return queries
