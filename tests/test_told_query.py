"""The worked example in docs/how-it-searches.md has the right numbers.

`pytest tests/test_told_query.py --update-golden` updates them.
"""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from doc_examples import ROOT
from small_indexes import rendered_server

from foundry import pipeline
from foundry.config.project import load_config
from foundry.indexing.versions import built_index, open_index
from foundry.progress import Reporter
from foundry.runtime.index.heading_terms import HEADING_MARK, query_terms

QUERY = "who locks out a machine before repairs"
PAGE = ROOT / "docs" / "how-it-searches.md"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("told") / "handbook"
    shutil.copytree(ROOT / "examples" / "handbook", folder)
    pipeline.build(folder, Reporter(quiet=True))
    return built_index(load_config(folder)).folder


def test_numbers_match_the_search(
    index: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = page
    for pattern, text in {**lane_numbers(index), **scores(index, tmp_path)}.items():
        told, count = re.subn(pattern, lambda _, text=text: text, told)
        assert count == 1, f"{pattern}: {text}"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(told, encoding="utf-8")
    assert told == page


def lane_numbers(folder: Path) -> dict[str, str]:
    """Return the page's correct statements on the keyword lane, each by a pattern that finds it."""
    index = open_index(folder)
    _, tokens = index.tokenizer.tokenize_query(QUERY)
    terms, lane = query_terms(tokens), index.keyword_lane
    hits = lane.search(terms, 100)
    best = np.array([hits.chunks[0]])
    found = {
        r"`examples/handbook` has \d+ chunks\.": (
            f"`examples/handbook` has {index.chunk_count} chunks."
        ),
        r"\d+ chunks have at least one of": f"{len(hits)} chunks have at least one of",
        r"by the best score, [\d.]+\d\.": f"by the best score, {hits.scores[0]:.3f}.",
    }
    for term in terms:
        if not term.startswith(HEADING_MARK):
            (score,) = lane.scores([term], best).tolist()
            shown = f"{score:.3f}" if score else "0"
            row = f"| `{term}` | {lane.frequency(term)} | {shown} |"
            found[rf"\| `{term}` \| \d+ \| [\d.]+ \|"] = row
    return found


def scores(folder: Path, tmp_path: Path) -> dict[str, str]:
    """Return the page's correct statements on the hits, each by a pattern that finds it."""
    found = {}
    with rendered_server(tmp_path, "told", "") as server:
        server.load(folder)
        answer = server.search_hybrid(QUERY, 3)
        for place, hit in enumerate(answer.hits, start=1):
            title = " ".join(hit.title.split()[:3])
            meaning = f"{hit.scores.semantic:.3f} ({hit.ranks.semantic})"
            keywords = f"{hit.scores.keyword:.3f} ({hit.ranks.keyword})"
            row = [str(place), f"{title}, {hit.section[-1]}", meaning, keywords, f"{hit.score:.3f}"]
            found[rf"\| {place} \| 30 CFR .*"] = f"| {' | '.join(row)} |"
            assert not hit.boosts
        first = answer.hits[0]
        lanes = f"0.7 \u00d7 {first.scores.semantic:.3f} + 0.3 \u00d7 {first.scores.keyword:.3f}"
        found["0\\.7 \u00d7 \\d.* = [\\d.]+"] = f"{lanes} = {first.score:.3f}"
        found["the match is `\\w+`"] = f"the match is `{answer.match}`"
    return found
