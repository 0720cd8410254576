"""Learns how much each kind of missing support counts: `python benchmarks/train_sentences.py`.

This fits the coefficients of `foundry/runtime/chat/comparing/coefficients.py`, and writes them with
`--write`: a logistic regression without negative coefficients, because missing support never makes
a sentence better. It learns from `sentences.jsonl` (by an author who did not know the check), from
`supported.jsonl`, and from the supported sentences of both, combined with another passage of the
same document that does not support them.

In cross-validation by document, at most FALSE of the supported sentences may be marked, which
determines the threshold. `--also FILE` prints which of other sentences are marked, without learning
from them.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from common import row
from numpy.typing import NDArray
from sentences import Checker

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
WRITTEN = HERE.parent / "foundry" / "runtime" / "chat" / "comparing" / "coefficients.py"
FALSE = 0.04  # Share of the supported sentences that may be marked.
FOLDS, ROUNDS, STEPS = 10, 5, 60
RIDGE = 1.0
WRONG_WEIGHT = 0.3  # Weight of a sentence with the wrong passage, which is easy to recognise.
PROVIDER = '[embedding]\nprovider = "none"\n\n'  # Only keyword search is needed.
WIDTH = 40  # Maximum characters of a title.

Numbers = NDArray[np.float64]
Entry = dict[str, Any]


def read_lines(path: Path) -> list[Entry]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_written() -> list[Entry]:
    """Read the sentences by the author who did not know the check."""
    entries = read_lines(HERE / "sentences.jsonl")
    return [
        {**entry, "set": "strangers", "document": entry["passages"][0]["path"]} for entry in entries
    ]


def read_own() -> list[Entry]:
    """Read the sentences of `supported.jsonl` with the documents that they cite."""
    entries = []
    for line in read_lines(HERE / "supported.jsonl"):
        passages = [*_cited(line)]
        for is_supported in (True, False):
            kinds = line["supported" if is_supported else "unsupported"]
            entries += [
                {
                    "question": line["question"],
                    "passages": passages,
                    "sentence": sentence,
                    "supported": is_supported,
                    "kind": kind,
                    "set": "own",
                    "document": passages[0]["path"],
                }
                for kind, sentences in kinds.items()
                for sentence in sentences
                if passages
            ]
    return entries


def _cited(line: Entry) -> list[dict[str, str]]:
    cited = []
    for path in sorted((EXAMPLES / line["corpus"] / "sources").rglob("*.*")):
        text = path.read_text(encoding="utf-8", errors="ignore")
        if any(" ".join(part.split()) in " ".join(text.split()) for part in line["cites"]):
            title = text.splitlines()[0].lstrip("# ")[:WIDTH]
            cited.append({"title": title, "path": path.name, "text": text})
    return cited


def misplace(entries: list[Entry]) -> list[Entry]:
    """Return supported sentences, each with a passage of its document that does not support it."""
    chooser, moved = random.Random(5), []
    for entry in filter(lambda one: one["supported"], entries):
        texts = {one["text"] for one in entry["passages"]}
        others = [one for one in entries if texts.isdisjoint({p["text"] for p in one["passages"]})]
        same = [one for one in others if one["document"] == entry["document"]]
        passages = chooser.choice(same or others)["passages"][:1]
        moved.append({**entry, "passages": passages, "supported": False, "set": "misplaced"})
    return moved


def fit(lacks: Numbers, unsupported: Numbers, weights: Numbers) -> Numbers:
    """Return the intercept and the coefficients, none negative, by Newton's method."""
    active = np.ones(lacks.shape[1], dtype=bool)
    while True:
        design = np.column_stack([np.ones(len(lacks)), lacks[:, active]])
        ridge = np.diag([1e-6, *[RIDGE] * int(active.sum())])
        found = np.zeros(design.shape[1])
        for _ in range(STEPS):
            odds = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
            slope = design.T @ (weights * (odds - unsupported)) + ridge @ found
            curve = (design.T * (weights * odds * (1 - odds))) @ design + ridge
            found -= np.linalg.solve(curve, slope)
        if (found[1:] >= 0).all():
            break
        active[np.flatnonzero(active)[np.argmin(found[1:])]] = False
    coefficients = np.zeros(lacks.shape[1] + 1)
    coefficients[0], coefficients[1:][active] = found[0], found[1:]
    return coefficients


def cross_validate(
    lacks: Numbers, unsupported: Numbers, weights: Numbers, documents: list[str]
) -> Numbers:
    """Return the score of each sentence, by coefficients that were fitted without its document."""
    names, scores = np.array(documents), np.zeros(len(lacks))
    for turn in range(ROUNDS):
        order = np.unique(names)
        np.random.default_rng(turn).shuffle(order)
        for fold in range(FOLDS):
            held = np.isin(names, order[fold::FOLDS])
            found = fit(lacks[~held], unsupported[~held], weights[~held])
            scores[held] += (found[0] + lacks[held] @ found[1:]) / ROUNDS
    return scores


def limit_of(scores: Numbers, supported: NDArray[np.bool_], share: float) -> float:
    """Return the score above which at most this share of the supported sentences is marked."""
    ordered = np.sort(scores[supported])[::-1]
    return float(ordered[int(share * len(ordered))]) + 1e-6


def show(entries: list[Entry], marked: NDArray[np.bool_]) -> None:
    """Print how many sentences of each set are marked."""
    counts: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    for entry, is_marked in zip(entries, marked, strict=True):
        counts[entry["set"], entry["supported"]].append(bool(is_marked))
    row("sentences", "", "marked", "share")
    row(*["---"] * 4)
    for (name, is_supported), found in sorted(counts.items()):
        kind = "supported" if is_supported else "unsupported"
        row(name, kind, f"{sum(found)} of {len(found)}", f"{sum(found) / len(found):.3f}")


def learn(entries: list[Entry], others: list[Entry]) -> dict[str, float]:
    """Print the results of cross-validation; returns coefficients scaled to a threshold of 1."""
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker([*entries, *others], Path(scratch), PROVIDER)
        measured = [checker.measure(entry) for entry in [*entries, *others]]
    kinds = [*max(measured, key=len)]
    table = np.array([[one.get(kind, 0.0) for kind in kinds] for one in measured])
    lacks, rest = table[: len(entries)], table[len(entries) :]
    supported = np.array([entry["supported"] for entry in entries])
    weights = np.array([WRONG_WEIGHT if e["set"] == "misplaced" else 1.0 for e in entries])
    documents = [entry["document"] for entry in entries]
    scores = cross_validate(lacks, 1.0 - supported, weights, documents)
    for share in (0.03, FALSE, 0.05, 0.1):
        print(f"\nby cross-validation, {share:.0%} of the supported marked\n")
        show(entries, scores >= limit_of(scores, supported, share))
    found = fit(lacks, 1.0 - supported, weights)
    enough = limit_of(scores, supported, FALSE) - found[0]
    if others:
        print("\nothers, by what is written\n")
        show(others, rest @ found[1:] >= enough)
    return {kind: round(float(one / enough), 2) for kind, one in zip(kinds, found[1:], strict=True)}


def main() -> None:
    """Print the results, and write the coefficients with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--also", type=Path, action="append", default=[])
    options = parser.parse_args()
    entries = [*read_written(), *read_own()]
    entries += misplace(entries)
    others = [{**entry, "set": path.stem} for path in options.also for entry in read_lines(path)]
    learnt = learn(entries, others)
    print(f"\n{learnt}")
    if options.write:
        WRITTEN.write_text(_module(learnt), encoding="utf-8")


def _module(learnt: dict[str, float]) -> str:
    lines = [
        '"""How much each lack of a sentence tells: from 1 on, all together, it is marked.',
        "",
        "Written by `python benchmarks/train_sentences.py --write`.",
        '"""',
        "",
        "COEFFICIENTS = {",
        *(f'    "{kind}": {one},' for kind, one in learnt.items() if one),
        "}",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
