"""Five queries that mix identifiers and meaning, under every fusion and with weighting stages.

They are the acceptance cases for hybrid search: an identifier alone, one in a sentence, a question
about a subject, a name, and a regulation.
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_indexes import rendered_server

from foundry.cli.main import main

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
LINES = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = [json.loads(line) for line in LINES[:5]]
COMPOSITIONS = {
    "linear": "",
    "rrf": 'fusion = "rrf"\n',
    "linear_stages": "[search.adaptive_weights]\n[search.anchors]\n[search.links]\n"
    '[search.recency]\nkind = "decay"\n',
    "rrf_stages": 'fusion = "rrf"\n[search.adaptive_weights]\n[search.anchors]\n[search.links]\n',
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("handbook")
    config = (HANDBOOK / "foundry.toml").read_text(encoding="utf-8")
    sources = (HANDBOOK / "sources").as_posix()
    (root / "foundry.toml").write_text(config.replace('"sources"', f'"{sources}"'))
    result = CliRunner().invoke(main, ["build", str(root), "--quiet"])
    assert result.exit_code == 0, result.output
    return root / ".foundry" / "index"


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_acceptance(composition: str, index: Path, tmp_path: Path) -> None:
    options = f"[search]\n{COMPOSITIONS[composition]}"
    assert [question["query"] for question in QUESTIONS] == [
        "D40",
        "Tell me about D40",
        "What are the safety requirements?",
        "Aboleth",
        "30 CFR 75.1725",
    ]
    with rendered_server(tmp_path / "server", f"acceptance_{composition}", options) as server:
        server.load(index)
        for question in QUESTIONS:
            response = server.search_hybrid(question["query"], 3)
            right = [hit.path in question["relevant"] for hit in response.hits]
            if "top" in question:
                assert right == [True] * question["top"], question["query"]
            else:
                # Fusion by rank ignores the scores of a lane, so the right document
                # need not be first.
                fuses_ranks = response.mode == "hybrid" and composition.startswith("rrf")
                assert any(right[: 3 if fuses_ranks else 1]), question["query"]
            assert response.mode == question.get("mode", response.mode)
        first = server.search_hybrid("D40").hits[0]
        assert (first.title, first.scores.keyword) == ("Region D40", 1.0)
