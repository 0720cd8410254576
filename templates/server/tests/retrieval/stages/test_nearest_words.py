"""The word nearest to a misspelt one, compared with distances computed by definition."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.retrieval.stages.nearest_words import (
    MAX_LENGTH,
    CorrectionLayout,
    Nearest,
    Words,
    hash_word,
    mask_of,
)


def write(
    root: Path,
    weights: dict[str, int],
    forms: dict[str, str] | None = None,
    right: Sequence[str] = (),
) -> Words:
    """Write words with their weights and spellings, and open them."""
    layout = CorrectionLayout(root)
    words = sorted(weights, key=lambda word: (len(word), word))
    alphabet = sorted({*"".join(words)})
    layout.alphabet.write_text("".join(alphabet), "utf-8")
    codes = [[alphabet.index(letter) + 1 for letter in word] for word in words]
    counts = Counter(map(len, words))
    starts = [0, *accumulate(counts[length] for length in range(MAX_LENGTH + 1))]
    shown = [(forms or {}).get(word, word).encode() for word in words]
    for path, values, kind in (
        (layout.starts, starts, np.uint32),
        (layout.letters, [code for word in codes for code in word], np.uint8),
        (layout.masks, [mask_of(word) for word in codes], np.uint64),
        (layout.weights, [weights[word] for word in words], np.uint8),
        (layout.right, sorted(map(hash_word, right)), np.uint32),
        (layout.form_offsets, [0, *accumulate(map(len, shown))], np.uint64),
    ):
        np.save(path, np.array(values, dtype=kind))
    layout.forms.write_bytes(b"".join(shown))
    return Words.open(root)


def distance(one: str, other: str) -> int:
    """Return the optimal string alignment distance of two words, by its recurrence."""

    @cache
    def table(i: int, j: int) -> int:
        if not (i and j):
            return i or j
        cost = one[i - 1] != other[j - 1]
        steps = [table(i - 1, j) + 1, table(i, j - 1) + 1, table(i - 1, j - 1) + cost]
        if i > 1 and j > 1 and one[i - 2 : i] == other[j - 1] + other[j - 2]:
            steps.append(table(i - 2, j - 2) + 1)
        return min(steps)

    return table(len(one), len(other))


def test_sets_of_letters_are_bits() -> None:
    assert [mask_of([]), mask_of([1]), mask_of([63, 0, 1, 1]), mask_of([64, 66])] == [
        *(0, 2, 2**63 + 3, 5),
    ]


@pytest.mark.parametrize("seed", range(10))
def test_the_nearest_word_has_the_smallest_distance(tmp_path: Path, seed: int) -> None:
    chooser = np.random.default_rng(seed)

    def random_word() -> str:
        return "".join(chooser.choice([*"abcd\u00e9"], chooser.integers(3, 11)))

    known = {random_word() for _ in range(25)}
    opened = write(tmp_path, dict.fromkeys(known, 12))
    assert all(word in opened for word in known)
    for word in {*(random_word() for _ in range(15)), *list(known)[:2]}:
        fewest = min(distance(word, other) for other in known)
        found = opened.nearest(word)
        assert (word in opened) == (word in known)
        if found is None:
            assert fewest > (2 if len(word) >= 8 else 1)
        else:
            assert found.form in known
            assert found.edits == fewest == distance(word, found.form)


def test_frequency_and_the_edit_decide_between_words_equally_near(tmp_path: Path) -> None:
    opened = write(tmp_path, {"mine": 19, "mint": 12, "pint": 12, "pints": 12, "pine": 0})
    assert opened.nearest("mink") == Nearest("mine", 1, 19)
    # A missing letter, or two swapped ones, are more likely than a replaced one.
    assert opened.nearest("pnt") == Nearest("pint", 1, 12)
    assert opened.nearest("imnt") == Nearest("mint", 1, 12)
    # A word in no chunk is the nearest only if no other is as near.
    assert opened.nearest("sine") == Nearest("mine", 1, 19)
    assert opened.nearest("pine") == Nearest("pine", 0, 0)


@pytest.mark.parametrize(
    ("more", "is_preferred"), [(55, True), (56, False), (57, False), (100, False)]
)
def test_how_much_more_frequent_a_word_must_be(
    tmp_path: Path, more: int, is_preferred: bool
) -> None:
    # Among equally plausible words, the first is chosen: the shorter one.
    opened = write(tmp_path, {"cast": 1 + more, "coast": 1})
    found = opened.nearest("cost")
    assert found is not None and (found.form == "coast") == is_preferred


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("lidr", "Lidar"),
        # Two edits need a word of eight letters.
        ("cisxxrn", None),
        ("cistxxns", "cisterns"),
        ("istrn", None),
        ("x" * 25, None),
        ("a" * 23, "a" * 24),
        ("a" * 24, "a" * 24),
        ("\u4e95\u6238", None),
        ("", None),
    ],
)
def test_how_far_the_nearest_may_be(tmp_path: Path, word: str, form: str | None) -> None:
    words = {"lidar": 5, "cisterns": 5, "cistern": 5, "a" * 24: 5}
    found = write(tmp_path, words, {"lidar": "Lidar"}).nearest(word)
    assert (found and found.form) == form
    assert "x" * 25 not in write(tmp_path, words)


def test_words_of_corpus_and_dictionary_are_right(tmp_path: Path) -> None:
    opened = write(tmp_path, {"lidar": 5}, right=["invoic", "r\u00e9sum\u00e9", "zebra"])
    for stem in ("invoic", "r\u00e9sum\u00e9", "zebra", "lidar"):
        assert opened.is_right(stem)
    for stem in ("invok", "zebras"):
        assert not opened.is_right(stem)
    (tmp_path / "other").mkdir()
    assert not write(tmp_path / "other", {"lidar": 5}).is_right("zebra")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("alphabet.txt", None),
        ("alphabet.txt", b"\xff"),
        ("starts.npy", b""),
        ("letters.npy", None),
        ("masks.npy", b"!"),
        ("weights.npy", None),
        ("forms.bin", None),
        ("right.npy", None),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    write(tmp_path, {"lidar": 5})
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(IndexUnusableError, match=name):
        Words.open(tmp_path)
