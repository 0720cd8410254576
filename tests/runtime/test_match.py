"""How the best match of a search is graded."""

import json
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import CONFIG, MakeProject
from small_indexes import Note, rendered_server, write_notes

from foundry.runtime.index.layout import IndexFiles
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.retrieval.candidates import Candidates, distance_from
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.encoder import open_encoder
from foundry.runtime.retrieval.hybrid import complete_lanes
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.match import compare_with_terms, term_weights

NOTES = [
    Note("Seals", ("Replace the seal of the pump every year, and oil it.",)),
    Note("Lamps", ("A lamp smokes if its wick is too long.",)),
    Note("Brakes", ("Brake pads are worn after three winters.",)),
]
MACHINES = "Ahr Bor Cal Dun Elm Fal Gar Hol Ing Jor Kar Lin Mar Nor Tor".split()
MIDDLES = ["", *"al an ar eb ed el er id il in is od on or ul un ur".split()]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedIndex]:
    folder = write_notes(tmp_path_factory.mktemp("match") / "index", NOTES)
    files = IndexFiles.open(folder)
    yield OpenedIndex(files, KeywordLane.open(files), DenseLane.open(files), open_encoder(files))


def test_coverage_is_the_best_score_over_the_weight_of_all_terms(index: OpenedIndex) -> None:
    terms = ["seal", "zebra"]
    hits = index.keyword_lane.search(terms, 10)
    covered = compare_with_terms(hits, index, terms, ())
    weight = math.log(1 + 2.5 / 1.5) + math.log(1 + 3.5 / 0.5)
    assert covered.coverage == pytest.approx(hits.scores[0] / weight)
    assert Candidates.by_keyword(covered).coverage == covered.coverage
    nothing = compare_with_terms(LaneHits.none(), index, ["zebra"], ())
    assert nothing.coverage is None


def test_a_build_measures_background_distances(index: OpenedIndex) -> None:
    assert index.manifest.dense is not None
    assert 0.3 < index.manifest.dense["background"] < 0.7


@pytest.mark.parametrize("count", [49, 50])
def test_a_build_measures_the_spread_of_enough_chunks(count: int, tmp_path: Path) -> None:
    texts = [*[NOTES[0].passages[0]] * 40, *[NOTES[1].passages[0]] * (count - 40)]
    notes = [
        Note(f"Note {n}", (f"{text} It was so in {1950 + n}.",)) for n, text in enumerate(texts)
    ]
    lane = DenseLane.open(IndexFiles.open(write_notes(tmp_path / "index", notes)))
    assert len(lane.scales) == count
    vectors = lane.vectors * lane.scales[:, np.newaxis]
    spread = float((vectors @ vectors.mean(axis=0)).std())
    assert spread > 0.03
    assert lane.spread == (round(spread, 3) if count == 50 else None)


def test_a_hybrid_search_measures_the_distance_of_its_query(index: OpenedIndex) -> None:
    lane, query = index.dense_lane, index.encoder.encode("interest rates")
    assert isinstance(lane, DenseLane)
    assert query is not None
    nothing = LaneHits.none()
    assert complete_lanes(index, [], query, nothing, nothing).distance is None
    lane.spread = 0.05
    expected = distance_from(lane.centre, 0.05, query)
    assert complete_lanes(index, [], query, nothing, nothing).distance == expected
    lane.spread = None


@pytest.mark.parametrize("language", ["english", "german"])
def test_distance_is_used_for_english_only(language: str, make_project: MakeProject) -> None:
    config = CONFIG.replace('name = "notes"', f'name = "notes"\nlanguage = "{language}"', 1)
    notes = {f"{n}.md": f"# Lampe {n}\n\nEine Lampe brennt {n} Stunden." for n in range(50)}
    project = make_project(notes, config=config)
    project.succeed("build", "--quiet")
    dense = json.loads((project.index / "manifest.json").read_bytes())["dense"]
    assert (dense["spread"] is not None) == (language == "english")


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A server over 1,080 machines with different names."""
    root = tmp_path_factory.mktemp("matching")
    lasts = ("beck", "holm", "stad", "vik")
    names = ["".join(parts) for parts in product(MACHINES, MIDDLES, lasts)]
    texts = [
        f"The {name} pump takes {place + 300} litres of oil." for place, name in enumerate(names)
    ]
    write_notes(
        root / "index", [Note(name, (text,)) for name, text in zip(names, texts, strict=True)]
    )
    with rendered_server(root, "matching", "") as package:
        package.load(root / "index")
        yield package


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize(
    ("query", "is_strong"),
    [
        ("which litres of oil does the Ahrbeck pump take", True),
        ("Torvik pump", True),
        ("which litres of oil does the Ahrquist pump take", False),
        ("Torquist pump", False),
    ],
)
def test_a_name_in_no_document_is_not_a_strong_match(
    searching: ModuleType, mode: str, query: str, is_strong: bool
) -> None:
    assert (searching.search_hybrid(query, mode=mode).match == "strong") == is_strong


def test_a_character_pair_across_two_known_words_is_not_a_missing_word(tmp_path: Path) -> None:
    notes = [
        Note("工具", ("如何使用工具。",)),
        Note("泵", ("先安装泵。",)),
        Note("灯", ("灯很亮。",)),
    ]
    files = IndexFiles.open(write_notes(tmp_path / "index", notes))
    index = OpenedIndex(files, KeywordLane.open(files))
    # 何安 is in no chunk, but 如何 and 安装 are.
    weights = term_weights(index, ["如何", "何安", "安装"])
    assert weights == {"如何": weights["安装"], "何安": 0.0, "安装": weights["安装"]}
    # 卸载 is in no chunk either, so 何卸 does not cross two known words: 卸载 keeps its weight.
    missing = term_weights(index, ["如何", "何卸", "卸载"])
    assert missing["如何"] < missing["卸载"]
    assert missing["卸载"] > 0
