"""Makes queries that are meant to be expensive; each kind depends on a seed."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from foundry.runtime.index.tokens import ENGLISH_STOP_WORDS
from foundry.runtime.retrieval.journal import MAX_QUERY_LENGTH

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORT_FORM, LONG_FORM = "FK", "forward kinematics"
GROUPS, FORMS = 40, 9
"""Number of groups of synonyms, and of forms in each; one more group exists in every server."""

_WORD = re.compile(r"[a-z]{4,20}")

Draw = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a corpus: the most frequent ones first, and those in one or two chunks."""

    frequent: Sequence[str]
    rare: Sequence[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Words":
        """Count the words of texts, each once per text."""
        counts = Counter(word for text in texts for word in {*_WORD.findall(text.casefold())})
        for word in ENGLISH_STOP_WORDS:
            counts.pop(word, None)
        ranked = [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]
        return cls(ranked[:600], [word for word in ranked if counts[word] <= 2] or ranked[-600:])

    def groups(self) -> Iterator[tuple[str, ...]]:
        """Yield groups of synonyms: one that chunks may lack, and many of frequent words."""
        yield SHORT_FORM, LONG_FORM
        for number in range(GROUPS):
            chooser = random.Random(number)
            forms = (chooser.sample(self.frequent[GROUPS:200], 3) for _ in range(FORMS - 1))
            yield self.frequent[number], *map(" ".join, forms)


def fill(draw: Draw, joined: str = " ", length: int = MAX_QUERY_LENGTH) -> Draw:
    """Return a function that repeats a draw until the query has its maximum length."""

    def write(chooser: random.Random) -> str:
        pieces, size = list[str](), 0
        while size < length:
            pieces.append(draw(chooser))
            size += len(pieces[-1]) + len(joined)
        return joined.join(pieces)[:length].strip() or pieces[0]

    return write


def hostile_queries(words: Words, filters: Sequence[str] = ()) -> dict[str, Draw]:
    """Return each kind of query by name; `filters` are written as `field:value`."""

    def frequent(chooser: random.Random) -> str:
        return chooser.choice(words.frequent[:100])

    def common(chooser: random.Random) -> str:
        return chooser.choice(words.frequent)

    def rare(chooser: random.Random) -> str:
        return chooser.choice(words.rare)

    def misspelt(chooser: random.Random) -> str:
        word = chooser.choice([word for word in words.frequent if len(word) > 5])
        place = chooser.randrange(1, len(word) - 2)
        swapped = word[place + 1] + word[place]
        return word[:place] + swapped + word[place + 2 :] + chooser.choice("qxz")

    def letters(count: int) -> Draw:
        return lambda chooser: "".join(chooser.choices(LETTERS, k=count))

    def han(chooser: random.Random) -> str:
        return chr(chooser.randrange(0x4E00, 0x9FA5))

    def camel(draw: Draw, count: int = 2) -> Draw:
        return lambda chooser: "".join(draw(chooser).capitalize() for _ in range(count))

    def joined(mark: str, draw: Draw, count: int = 2) -> Draw:
        return lambda chooser: mark.join(draw(chooser) for _ in range(count))

    def phrase(sign: str, draw: Draw, count: int = 2) -> Draw:
        return lambda chooser: f'{sign}"{" ".join(draw(chooser) for _ in range(count))}"'

    def marked(sign: str, draw: Draw) -> Draw:
        return lambda chooser: sign + draw(chooser)

    def always(text: str) -> Draw:
        return lambda _: text

    def first(count: int, draw: Draw, then: Draw) -> Draw:
        """Draw some of one kind, and fill the rest with another."""
        half = fill(then, length=MAX_QUERY_LENGTH - 30 * count)
        return lambda c: " ".join([*(draw(c) for _ in range(count)), half(c)])[:MAX_QUERY_LENGTH]

    def everything(chooser: random.Random) -> str:
        kinds = (
            *(phrase("", frequent), phrase("-", frequent), marked("+", frequent)),
            *(misspelt, camel(frequent), joined("_", frequent), always(SHORT_FORM), frequent),
        )
        return fill(lambda c: c.choice(kinds)(c))(chooser)

    any_filter = (lambda c: c.choice(filters)) if filters else always("source:docs")
    marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u201c\u201d\u201e"
    return {
        "one synonym over and over": fill(always(SHORT_FORM)),
        "synonyms": fill(lambda c: c.choice(words.frequent[:GROUPS])),
        "both forms": fill(lambda c: c.choice((SHORT_FORM, LONG_FORM, frequent(c)))),
        "phrases": fill(phrase("", frequent)),
        "phrases of one word": fill(phrase("", frequent, 1)),
        "one phrase": phrase("", frequent),
        "phrases of many words": fill(phrase("", frequent, 24)),
        "one phrase over and over": lambda c: fill(always(phrase("", frequent)(c)))(c),
        "excluded phrases": fill(phrase("-", frequent)),
        "excluded phrases of one word": fill(phrase("-", frequent, 1)),
        "excluded phrases, common words": fill(phrase("-", common)),
        "excluded phrases of rare words": fill(phrase("-", rare)),
        "excluded words": fill(marked("-", frequent)),
        "excluded identifiers": fill(marked("-", joined("_", frequent))),
        "required words": fill(marked("+", frequent)),
        "sixteen phrases, then words": first(16, phrase("", frequent), frequent),
        "sixteen excluded phrases, then words": first(16, phrase("-", frequent), frequent),
        "filters": fill(any_filter),
        "filters of no value": fill(lambda c: f"path:{letters(6)(c)}"),
        "misspelt words": fill(misspelt),
        "few misspelt words": fill(misspelt, length=90),
        "long misspelt words": fill(lambda c: misspelt(c)[:11] + misspelt(c)[:11]),
        "unknown words": fill(letters(9)),
        "unknown camelCase": fill(camel(letters(6))),
        "most frequent words": fill(lambda c: c.choice(words.frequent[:64])),
        "frequent words": fill(frequent),
        "common words": fill(common),
        "one word over and over": fill(always(words.frequent[0])),
        "Capitalised words": fill(lambda c: frequent(c).capitalize()),
        "camelCase": fill(camel(frequent)),
        "camelCase, 200 characters": fill(camel(frequent), length=200),
        "snake_case": fill(joined("_", frequent)),
        "snake_case, 200 characters": fill(joined("_", frequent), length=200),
        "dotted.names": fill(joined(".", frequent)),
        "dotted.names, 200 characters": fill(joined(".", frequent), length=200),
        "acronyms and numbers, 200 characters": fill(
            lambda c: f"{c.choice(LETTERS).upper() * 2} {c.randrange(99)}.{c.randrange(99)}",
            length=200,
        ),
        "one letter": fill(lambda c: c.choice("bcdefghjk")),
        "a letter over and over": always("b" * MAX_QUERY_LENGTH),
        "letters without spaces": fill(letters(1), ""),
        "words without spaces": fill(frequent, ""),
        "CamelWithoutSpaces": fill(camel(frequent), ""),
        "snake_without_spaces": fill(frequent, "_"),
        "Han": fill(han, ""),
        "Han and spaces": fill(han),
        "U+FDFA": always("\ufdfa" * MAX_QUERY_LENGTH),
        "combining marks": fill(always("e\u0301\u0323"), ""),
        "punctuation": fill(lambda c: c.choice(marks), ""),
        "opening quotes": fill(always('"a'), " "),
        "signs": fill(lambda c: c.choice(("-", "+", "- a", '-"', '"-')), " "),
        "joints": fill(lambda c: c.choice(("a-", "a.", "a::", "1.", "_a", "a/")), ""),
        "paragraphs": fill(always("(1)(a)"), ""),
        "cited paragraphs": fill(lambda c: f"{c.randrange(9999)}.{c.randrange(9)}(b)(2)(iii)"),
        "lettered parts": fill(lambda c: c.choice(("appendix a", "part I", "table A 1"))),
        "everything": everything,
    }
