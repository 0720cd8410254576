"""What tells answered questions from near ones? `python benchmarks/evidence.py FOLDER FOLDER ...`.

A folder holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). As in `unanswerable.py`, up to half
of the documents that answer are taken out of each collection, which is built with the default
configuration. Its questions that lost none of their documents are answered, those that lost all are
near; 40 of each other collection are foreign. Of every question it is noted what a search could
know of its best match: see `observe`.

The first table has the share of pairs of an answered and a near question in which the answered one
has more of it (.5 is chance), the best observation first. The second has the share of near
questions that a rule calls strong, the worst collection first: what is built; each observation, and
all in a logistic regression, with the threshold that leaves just `MISSED` of this collection's own
answered questions without a strong match, which no server can know; and a regression of all and of
three observations that has seen the other collections alone, with the share of answered questions
that it misses.
"""

import argparse
import importlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from common import Collection, language_of, machine, read_collection, row
from numpy.typing import NDArray
from unanswerable import open_search, take_out

MISSED = 0.1
FOREIGN, FOREIGN_WEIGHT = 40, 0.5
THREE = ("nearness", "one passage", "neighbours")
NEIGHBOURS, WINDOW = 4, 15
STEPS, RIDGE = 60, 1e-3

Table = NDArray[np.float64]
Places = Mapping[str, list[int]]


def adjacency(asked: Sequence[str], places: Places, weights: Mapping[str, float]) -> float:
    """The share of the question's pairs of terms that stand near each other in a passage."""
    found = whole = 0.0
    for one, other in pairwise(asked):
        weight = min(weights[one], weights[other])
        pairs = ((a, b) for a in places.get(one, ()) for b in places.get(other, ()))
        found += weight * any(abs(a - b) <= NEIGHBOURS for a, b in pairs)
        whole += weight
    return found / whole if whole else 0.0


def in_a_row(places: Places, weights: Mapping[str, float]) -> float:
    """The most weight of terms that `WINDOW` terms in a row of a passage have."""
    found = sorted((place, term) for term, own in places.items() for place in own)
    return max(
        (
            sum(weights[term] for term in {t for p, t in found[at:] if p <= start + WINDOW})
            for at, (start, _) in enumerate(found)
        ),
        default=0.0,
    )


class Observer:
    """Asks a server, and notes what it could know of the best match."""

    def __init__(self, package: str) -> None:
        def part(name: str) -> Any:
            return importlib.import_module(f"{package}.{name}")

        self.search, self.results = part("search"), part("retrieval.results")
        self.empty = part("chat.conversation").ENGLISH.empty
        self.sentences = part("chat.text").sentences
        self.judge = self.search.judge
        self.search.judge = self._keep
        self.kept: tuple[Any, Any] = (None, None)

    def _keep(self, index: Any, candidates: Any) -> Any:
        self.kept = index, candidates
        return self.judge(index, candidates)

    def observe(self, question: str) -> dict[str, float]:
        """What is known of the best match; more of each should mean that the question is answered.

        "nearness", "coverage", "distance" and "evidence" are as in the runtime's `hybrid`. The
        others count the question's terms without words of asking, by rarity: the most that one of
        the first three (and ten) passages has with its headings; its rarest term and its three
        rarest there; pairs of terms that are `NEIGHBOURS`; a `WINDOW` of it; one sentence; a
        sentence with its neighbours and headings, as extracts need it. "margins" are those of the
        first hit over the tenth. "agreement" is how near the best by keywords is in meaning.
        """
        response = self.search.search_hybrid(question[:2_000], 10)
        index, candidates = self.kept
        background = index.manifest.dense["background"]
        semantic = np.nan_to_num(candidates.semantic if candidates.semantic is not None else [0.0])
        keyword = np.nan_to_num(candidates.keyword if candidates.keyword is not None else [0.0])
        semantic, keyword = (x if len(x) else np.zeros(1) for x in (semantic, keyword))
        by_meaning, by_keyword = np.sort(semantic)[::-1], np.sort(keyword)[::-1]
        coverage, distance = candidates.coverage or 0.0, candidates.distance
        nearness = max(0.0, (by_meaning[0] - background) / (1 - background))
        weight, far = (1.8, 0.0) if distance is None else (3.2, 0.12 * distance)
        seen = {
            "strong now": float(response.match == "strong"),
            "doubted": float(candidates.doubted),
            "nearness": nearness,
            "coverage": coverage,
            "distance": -(distance or 0.0),
            "evidence": nearness + weight * coverage - far,
            "margin by meaning": by_meaning[0] - by_meaning[:10][-1],
            "margin by keywords": coverage * (by_keyword[0] - by_keyword[:10][-1]),
            "agreement": semantic[keyword.argmax()] if len(semantic) == len(keyword) else 0.0,
        }
        return seen | self._of_passages(question, response.hits, index)

    def _of_passages(self, question: str, hits: Sequence[Any], index: Any) -> dict[str, float]:
        terms_of = index.tokenizer.terms
        without = self.empty.intersection(re.findall(r"\w+", question.lower()))
        asked = set(terms_of(question))
        weights = self.results.term_weights(
            index, asked - set(terms_of(" ".join(without))) or asked
        )
        rarest = sorted(weights, key=lambda term: (-weights[term], term))
        whole = sum(weights.values()) or 1.0
        in_order = [term for term in terms_of(question) if term in weights]
        noted: list[dict[str, float]] = []

        def share(terms: set[str], of: Sequence[str] = rarest) -> float:
            held: float = sum(weights[term] for term in of if term in terms)
            return held / (sum(weights[term] for term in of) or 1.0)

        for hit in hits:
            headings = set(terms_of("\n".join([hit.title or "", *hit.section])))
            terms = list(terms_of(hit.text))
            places = {term: [at for at, one in enumerate(terms) if one == term] for term in weights}
            held = [set(terms_of(sentence)) for sentence in self.sentences(hit.text)]
            around = [headings.union(*held[max(0, at - 1) : at + 2]) for at in range(len(held))]
            had = headings.union(terms)
            noted.append(
                {
                    "passage": share(had),
                    "rarest": share(had, rarest[:1]),
                    "three rarest": share(had, rarest[:3]),
                    "neighbours": adjacency(in_order, places, weights),
                    "in a row": in_a_row(places, weights) / whole,
                    "one sentence": max(map(share, held), default=0.0),
                    "extract": max(map(share, around), default=0.0),
                }
            )

        def most(name: str, count: int = 3) -> float:
            return max((one[name] for one in noted[:count]), default=0.0)

        names = ("rarest", "three rarest", "neighbours", "in a row", "one sentence", "extract")
        passages = {"one passage": most("passage"), "one passage of ten": most("passage", 10)}
        return passages | {name: most(name) for name in names}


class Asked:
    """What was observed of a collection's answered, near and foreign questions, a table each."""

    def __init__(self, observed: Sequence[Sequence[dict[str, float]]]) -> None:
        names = [name for name in observed[0][0] if name not in ("strong now", "doubted")]
        self.tables = [np.array([[one[name] for name in names] for one in o]) for o in observed]
        self.doubted = [np.array([one["doubted"] > 0 for one in o]) for o in observed]
        self.now = [np.array([one["strong now"] > 0 for one in o]) for o in observed]
        self.names = names

    def strong(self, weights: Table, threshold: float) -> list[NDArray[np.bool_]]:
        """Which questions are strong, by a weighted sum of what was observed."""
        return [
            (table @ weights >= threshold) & ~doubted
            for table, doubted in zip(self.tables, self.doubted, strict=True)
        ]

    def threshold(self, weights: Table) -> float:
        """The threshold at which `MISSED` of the answered questions have no strong match."""
        sums = np.where(self.doubted[0], -np.inf, self.tables[0] @ weights)
        return float(np.sort(sums)[int(MISSED * len(sums))])


def fit(many: Sequence[Asked], chosen: Sequence[str]) -> Table:
    """Fit a logistic regression on some observations; each collection and kind counts alike."""
    names = many[0].names
    kinds = (1.0, 1.0, FOREIGN_WEIGHT)
    tables = [table for asked in many for table in asked.tables]
    shares = [
        np.full(len(table), weight / max(1, len(table)))
        for asked in many
        for table, weight in zip(asked.tables, kinds, strict=True)
    ]
    answered = [np.full(len(table), number % 3 == 0) for number, table in enumerate(tables)]
    columns = [names.index(name) for name in chosen]
    values = np.concatenate(tables)[:, columns]
    spread = values.std(axis=0) + 1e-9
    scaled = np.c_[(values - values.mean(axis=0)) / spread, np.ones(len(values))]
    goal, share = np.concatenate(answered), np.concatenate(shares)
    ridge = np.r_[np.full(len(columns), RIDGE), 1e-9]
    found = np.zeros(len(columns) + 1)
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (share * (guess - goal)) + ridge * found
        curve = (scaled.T * (share * guess * (1 - guess))) @ scaled + np.diag(ridge)
        found -= np.linalg.solve(curve, slope)
    weights = np.zeros(len(names))
    weights[columns] = found[:-1] / spread
    return weights


def more_often(answered: Table, near: Table) -> float:
    """In which share of pairs the answered question has more; half of those that have the same."""
    return float(np.mean(np.sign(answered[:, None] - near[None, :])) / 2 + 0.5)


def observe_all(collections: Mapping[str, Collection], scratch: Path) -> dict[str, Asked]:
    """Build each collection with half of its answers, and ask."""
    found = {}
    for name, collection in collections.items():
        corpus = scratch / f"{name}.jsonl"
        lost, kept = take_out(collection, corpus)
        open_search(scratch / name, corpus, language_of(Path(name)))
        observer = Observer("unanswerable")
        others = [one for other, one in collections.items() if other != name]
        foreign = [
            text
            for other in others
            for text in [*other.queries.values()][:: max(1, len(other.queries) // FOREIGN)][
                :FOREIGN
            ]
        ]
        found[name] = Asked([[*map(observer.observe, texts)] for texts in (kept, lost, foreign)])
    return found


def print_pairs(asked: Mapping[str, Asked]) -> None:
    """Print how well each observation tells answered from near questions."""
    names = next(iter(asked.values())).names
    rows = []
    for column, name in enumerate(names):
        tables = [one.tables for one in asked.values()]
        shares = [more_often(one[0][:, column], one[1][:, column]) for one in tables]
        rows.append((float(np.mean(shares)), name, shares))
    row("more of it where answered", *asked, "mean")
    row(*["---"] * (len(asked) + 2))
    for mean, name, shares in sorted(rows, reverse=True):
        row(name, *(f"{share:.3f}" for share in shares), f"{mean:.3f}")


def print_rules(asked: Mapping[str, Asked]) -> None:
    """Print how many near questions rules call strong, the worst collection first."""
    names = next(iter(asked.values())).names
    alone = {name: np.eye(len(names))[names.index(name)] for name in ("evidence", *THREE)}
    rows = []
    for name, one in asked.items():
        others = [other for key, other in asked.items() if key != name]
        floors = []
        for weights in (*alone.values(), fit([one], THREE), fit([one], names)):
            floors.append(float(one.strong(weights, one.threshold(weights))[1].mean()))
        unseen = []
        for chosen in (THREE, names):
            weights = fit(others, chosen)
            least = min(other.threshold(weights) for other in others)
            answered, near, foreign = (part.mean() for part in one.strong(weights, least))
            unseen += [float(near), float(1 - answered), float(foreign)]
        now = [float(one.now[1].mean()), float(1 - one.now[0].mean()), float(one.now[2].mean())]
        rows.append((now[0], name, [*now, *floors, *unseen]))
    unseen_columns = ("three, unseen", "missed", "foreign", "all, unseen", "missed", "foreign")
    row("collection", "now", "missed", "foreign", *alone, "three", "all", *unseen_columns)
    row(*["---"] * 16)
    for _, name, shares in sorted(rows, reverse=True):
        row(name, *(f"{share:.3f}" for share in shares))
    means = np.mean([shares for _, _, shares in rows], axis=0)
    row("mean", *(f"{share:.3f}" for share in means))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    collections = {folder.name: read_collection(folder) for folder in folders}
    if len(collections) < 3:
        parser.error("needs three collections: rules are tried on what they have not seen")
    with tempfile.TemporaryDirectory() as scratch:
        asked = observe_all(collections, Path(scratch))
    print(machine(), end="\n\n")
    print_pairs(asked)
    print()
    print_rules(asked)


if __name__ == "__main__":
    main()
