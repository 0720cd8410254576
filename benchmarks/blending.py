"""A transformer, the built-in table, and both: `python benchmarks/blending.py --help`.

Each collection (BEIR's layout) is built under the model, which numpy runs. nDCG@10 by document of
linear fusion where the semantic score is the model's cosine, the table's, or so much of the one and
the rest of the other; and where a second look orders the best 30 anew, by a mix of their score and
the model's cosine. `leaving one out` takes for each collection the share that is best on the
others. Behind each mean is what it gains on the table alone, with the interval of 95 % over all
queries, collections weighing the same. Cosines are exact, and nothing is rounded to bytes.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import machine
from distillation import Bench, Numbers, open_taught, opened_teacher, order
from numpy.typing import NDArray

from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.embedder import Vectors
from foundry.embedding.static import StaticEmbedder
from foundry.progress import Reporter
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.candidates import Candidates

SHARES = (0.0, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Of the model in the semantic score."""

LOOKS = (0.1, 0.3, 0.5, 1.0)
"""Of the model's cosine in the score of a second look."""

LOOKED_AT = 30
LOOK_AFTER = 0.5
"""The share of the model in the fusion that a second look follows."""

DRAWS = 10_000
Values = NDArray[np.float64]


@dataclass(slots=True)
class ExactLane:
    """Finds chunks by exact cosines to vectors (n, d) in single precision."""

    vectors: Vectors

    def search(self, vector: Vectors, count: int, allowed: None = None) -> LaneHits:
        """Find the chunks of highest cosine."""
        del allowed
        scores = (self.vectors @ vector).astype(np.float64)
        chunks = np.argsort(-scores, kind="stable")[:count]
        return LaneHits(chunks, scores[chunks])

    def scores(self, vector: Vectors, chunks: Numbers) -> Values:
        """Return the cosines to given chunks."""
        found: Values = (self.vectors[chunks] @ vector).astype(np.float64)
        return found

    def distance(self, vector: Vectors) -> None:
        """Return nothing: how strong a match is plays no part here."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Unit vectors of a collection's chunks and queries by the model, and by the table."""

    model: tuple[Vectors, Vectors]
    table: tuple[Vectors, Vectors]

    @classmethod
    def of(cls, bench: Bench, project: Path) -> "Sides":
        """Embed a collection by both."""
        chunks = bench.chunks()
        headings = ["\n".join(chunk.headings()) for chunk in chunks]
        texts = [chunk.text for chunk in chunks]
        table = StaticEmbedder()
        known = table.embed_documents(headings, texts, int)
        with opened_teacher(project) as (model, _):
            own = (
                model.embed([*map(chunk_text, chunks)], "document"),
                model.embed(bench.queries, "query"),
            )
        asked = table.make_query_encoder(lambda: iter(chunks), lambda *_: None)
        return cls(own, (known, asked.encode(bench.queries)))

    def blend(self, share: float) -> tuple[Vectors, Vectors]:
        """Return vectors whose products are `share` of the model's cosine and the table's rest."""
        pairs = zip(self.model, self.table, strict=True)
        chunks, queries = (
            np.concatenate([share**0.5 * model, (1 - share) ** 0.5 * table], axis=1)
            for model, table in pairs
        )
        return chunks, queries


def look_again(ranked: Numbers, found: Candidates, cosines: Vectors, share: float) -> Numbers:
    """Order the first LOOKED_AT anew, by `share` of the model's cosines and the rest as it was."""
    first = ranked[:LOOKED_AT]
    scores = dict(zip(found.chunks.tolist(), found.scores.tolist(), strict=True))
    mixed = [(1 - share) * scores[chunk] + share * cosines[chunk] for chunk in first.tolist()]
    again: Numbers = np.concatenate(
        [first[np.argsort(-np.array(mixed), kind="stable")], ranked[LOOKED_AT:]]
    )
    return again


def measure_one(folder: Path, model: Path, work: Path) -> Mapping[str, Values]:
    """Return the values of each way for one collection's queries."""
    bench = open_taught(folder, model, work, "same")
    sides = Sides.of(bench, work / folder.name)
    cosines = sides.model[1] @ sides.model[0].T
    values = {}
    for share in SHARES:
        chunks, queries = sides.blend(share)
        bench.index.dense_lane = ExactLane(chunks)  # type: ignore[assignment]
        fused = list(bench.find("linear", queries))
        ranked = [order(found) for found in fused]
        values[name_of(share)] = bench.judge(ranked)
        for look in LOOKS if share == LOOK_AFTER else ():
            values[f"{name_of(share)}, second look {look:.1f}"] = bench.judge(
                look_again(*each, look) for each in zip(ranked, fused, cosines, strict=True)
            )
    return values


def name_of(share: float) -> str:
    """Return what a share of the model is called."""
    names = {0.0: "table alone", 1.0: "model alone"}
    return names.get(share, f"{share:.1f} model + {1 - share:.1f} table")


def leave_one_out(found: Sequence[Mapping[str, Values]]) -> list[Values]:
    """Return each collection's values by the share that is best on the mean of the others."""
    chosen = []
    for number, own in enumerate(found):
        others = [each for place, each in enumerate(found) if place != number] or [own]
        best = max(map(name_of, SHARES), key=lambda name: np.mean([o[name].mean() for o in others]))
        chosen.append(own[best])
    return chosen


def interval(changes: Sequence[Values]) -> tuple[float, float]:
    """Return the interval of 95 % of the mean over collections of their mean changes."""
    choice = np.random.default_rng(1)
    means = np.zeros(DRAWS)
    for each in changes:
        drawn = choice.integers(len(each), size=(DRAWS, len(each)))
        means += each[drawn].mean(axis=1) / len(changes)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def main() -> int:
    """Parse, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", type=Path, required=True, help="folder of a transformer")
    parser.add_argument("--work", type=Path, help="keep projects and their caches here")
    arguments = parser.parse_args()
    print(machine())
    reporter = Reporter()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        with reporter.step("Measuring", "collections", len(arguments.folders)) as progress:
            found = []
            for folder in arguments.folders:
                found.append(measure_one(folder, arguments.model, work))
                progress.advance(1)
    ways = {name: [each[name] for each in found] for name in found[0]}
    ways["share chosen leaving one out"] = leave_one_out(found)
    names = " | ".join(folder.name for folder in arguments.folders)
    print(f"| | {names} | mean | to the table (95 %) |\n|---|" + "---|" * (len(found) + 2))
    for name, values in ways.items():
        means = [float(each.mean()) for each in values]
        changes = [own - table for own, table in zip(values, ways["table alone"], strict=True)]
        low, high = interval(changes)
        gained = f"{np.mean([each.mean() for each in changes]):+.4f} ({low:+.4f} to {high:+.4f})"
        cells = " | ".join(f"{mean:.4f}" for mean in [*means, float(np.mean(means))])
        print(f"| {name} | {cells} | {gained} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
