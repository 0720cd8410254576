"""The query that docs/how-it-searches.md tells through has the numbers that it tells."""

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
from foundry.runtime.index.tokens import HEADING_MARK, query_terms

QUERY = "who locks out a machine before repairs"
PAGE = (ROOT / "docs" / "how-it-searches.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("told") / "handbook"
    shutil.copytree(ROOT / "examples" / "handbook", folder)
    pipeline.build(folder, Reporter(quiet=True))
    return folder


def test_terms_and_their_weights(handbook: Path) -> None:
    index = open_index(built_index(load_config(handbook)).folder)
    _, tokens = index.tokenizer.tokenize_query(QUERY)
    lane = index.keyword_lane
    hits = lane.search(query_terms(tokens), 100)
    best = np.array([hits.chunks[0]])
    for term in query_terms(tokens):
        if not term.startswith(HEADING_MARK):
            (score,) = lane.scores([term], best).tolist()
            shown = f"{score:.3f}" if score else "0"
            assert f"| `{term}` | {lane.frequency(term)} | {shown} |\n" in PAGE
    assert f"`examples/handbook` has {index.chunk_count} chunks." in PAGE
    assert f"{len(hits)} chunks have a term." in PAGE
    assert f"divided by the best one, {hits.scores[0]:.3f}." in PAGE


def test_scores_of_the_best_chunks(handbook: Path, tmp_path: Path) -> None:
    with rendered_server(tmp_path, "told", "") as server:
        server.load(built_index(load_config(handbook)).folder)
        answer = server.search_hybrid(QUERY, 3)
        for place, hit in enumerate(answer.hits, start=1):
            title = " ".join(hit.title.split()[:3])
            meaning = f"{hit.scores.semantic:.3f} ({hit.ranks.semantic})"
            keywords = f"{hit.scores.keyword:.3f} ({hit.ranks.keyword})"
            row = [str(place), f"{title}, {hit.section[-1]}", meaning, keywords, f"{hit.score:.3f}"]
            assert f"| {' | '.join(row)} |\n" in PAGE
            assert not hit.boosts
        first = answer.hits[0]
        lanes = f"0.7 \u00d7 {first.scores.semantic:.3f} + 0.3 \u00d7 {first.scores.keyword:.3f}"
        assert f"{lanes} = {first.score:.3f}\n" in PAGE
        assert f"the match is `{answer.match}`" in PAGE
