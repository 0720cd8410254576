"""Measures the dense lane by size and depth: `python benchmarks/depth.py PROJECT`.

The vectors of a built PROJECT are repeated with added noise until there are `--vectors`. The lane
then reads their sketch as deep as `--depths` says. Queries are spans of the texts (see
`recall.py`); for each, the smallest of several processor times counts. A build measures the depth
that its texts need: about 4 % of the chunks for real text, far less for generated text.
"""

import argparse
from pathlib import Path

import numpy as np
from common import machine, row
from indexed import IndexedCorpus
from numpy.typing import NDArray
from query_log import kinds, make_log
from recall import least_milliseconds

from foundry.runtime.retrieval.dense_lane import DenseLane, pack_signs
from foundry.runtime.retrieval.quantising import quantise

NOISE = 0.4
"""Length of the noise that is added to a unit vector for each repetition."""

QUERIES = 60


def repeated(vectors: NDArray[np.float32], count: int) -> DenseLane:
    """Return a lane with this many vectors."""
    dimensions = vectors.shape[1]
    centre = vectors.mean(axis=0)
    rows = np.empty((count, dimensions), np.int8)
    scales = np.empty(count, np.float32)
    sketch = np.empty((-(-dimensions // 64), count), np.uint64)
    chooser = np.random.default_rng(1)
    for start in range(0, count, len(vectors)):
        some = vectors[: count - start]
        if start:
            noise = chooser.standard_normal(some.shape, np.float32)
            some = some + noise * np.float32(NOISE / np.sqrt(dimensions))
            some /= np.linalg.norm(some, axis=1, keepdims=True)
        part = slice(start, start + len(some))
        rows[part], scales[part] = quantise(some)
        sketch[:, part] = pack_signs(some, centre)
    return DenseLane(rows, scales, centre, sketch, 0)


def main() -> None:
    """Print a row for each number of vectors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("--vectors", type=int, nargs="+", default=[100_000, 1_000_000, 2_000_000])
    parser.add_argument("--depths", type=int, nargs="+", default=[1_000, 4_000, 40_000, 80_000])
    chosen = parser.parse_args()
    corpus = IndexedCorpus(chosen.project / ".foundry" / "index")
    vectors = corpus.vectors()
    queries = make_log({"span": kinds([*corpus.texts()])["span"]})[:QUERIES]
    asked = [vector for vector in map(corpus.encode, queries) if vector.any()]
    print(machine(), end="\n\n")
    row("vectors", *(f"{depth:,} deep, ms" for depth in chosen.depths))
    row(*["---"] * (1 + len(chosen.depths)))
    for count in chosen.vectors:
        lane = repeated(vectors, count)
        found = []
        for lane.candidates in chosen.depths:
            times = [least_milliseconds(lane, vector) for vector in asked]
            found.append(f"{np.median(times):.2f}")
        row(f"{count:,}", *found)


if __name__ == "__main__":
    main()
