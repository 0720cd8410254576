from dataclasses import replace

import numpy as np

from foundry.embedding.distil.distill import count_pieces, unit_rows
from refine import Pairs, RefineOptions, refine
from training_text import Passage

TOPICS = 24
PIECES = [f"{kind}{chr(97 + n)}" for kind in ("query", "answer") for n in range(TOPICS)]
OPTIONS = RefineOptions(
    batch=TOPICS, learning_rate=0.05, title_share=1.0, distillation_scale=0.0, stop_share=1.0
)


def topic_passages() -> list[Passage]:
    """The word of a title never occurs in its text, so only the vectors can relate the two."""
    return [
        Passage(f"query{chr(97 + n)}", f"answer{chr(97 + n)} answer{chr(97 + n)}")
        for _ in range(20)
        for n in range(TOPICS)
    ]


def test_titles_learn_to_find_texts_without_common_words() -> None:
    rows = np.random.default_rng(0).normal(size=(len(PIECES), 16)).astype(np.float32)
    pairs = Pairs.of(topic_passages(), PIECES)
    counts = count_pieces(PIECES, PIECES)
    before = float(np.mean(np.sum(unit_rows(rows[:TOPICS]) * unit_rows(rows[TOPICS:]), axis=1)))
    refined = refine(rows, [pairs], counts, unit_rows(rows), OPTIONS)
    units = unit_rows(refined)
    after = float(np.mean(np.sum(units[:TOPICS] * units[TOPICS:], axis=1)))
    assert after > before + 0.2


def test_the_same_seed_gives_the_same_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(len(PIECES), 8)).astype(np.float32)
    pairs = Pairs.of(topic_passages(), PIECES)
    counts = count_pieces(PIECES, PIECES)
    options = replace(OPTIONS, distillation_scale=1.0)
    first = refine(rows, [pairs], counts, unit_rows(rows), options)
    second = refine(rows, [pairs], counts, unit_rows(rows), options)
    assert first.tobytes() == second.tobytes()
