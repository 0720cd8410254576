"""Searches of small projects: scores, modes, identifiers and operators."""

from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FUSIONS = ("linear", "rrf")


def test_linear_scores_are_weighted_sums_of_the_lanes(
    tmp_path: Path, make_project: MakeProject
) -> None:
    project = make_project(
        {
            "a.md": "# Ventilation\n\nFans move air through the mine.\n",
            "b.md": "# Lanterns\n\nLamps are checked before each shift in the mine.\n",
        }
    )
    project.succeed("build")
    answer = project.ask("how does air get into the mine")
    assert answer["mode"] == "hybrid"
    for result in answer["results"]:
        lanes = result["scores"]
        assert result["score"] == pytest.approx(
            0.7 * lanes["semantic"] + 0.3 * lanes["keyword"], abs=2e-6
        )
    assert max(result["scores"]["keyword"] for result in answer["results"]) == 1.0


def test_an_identifier_is_answered_by_keywords_alone(make_project: MakeProject) -> None:
    project = make_project(
        {
            "d40.md": "# Region D40\n\nA hall with a bell.\n",
            "log.md": "# Log\n\nD40, D40 and again D40: we left D40 for D40.\n",
            "d41.md": "# Region D41\n\nA room with ropes.\n",
        }
    )
    project.succeed("build")
    answer = project.ask("D40")
    assert (answer["mode"], answer["reason"], answer["degraded"]) == (
        "keyword",
        "identifier",
        False,
    )
    first = answer["results"][0]
    assert first["path"] == "d40.md"
    assert first["scores"] == {"semantic": None, "keyword": 1.0}
    assert "d41.md" not in {result["path"] for result in answer["results"]}
    assert project.ask("Tell me about D40")["results"][0]["path"] == "d40.md"
    # No chunk has this identifier, so only its meaning can match.
    assert project.ask("Z99")["mode"] == "hybrid"


def test_other_spellings_find_the_same(make_project: MakeProject) -> None:
    notes = {f"note{n}.md": f"# Note {n}\n\nA meeting about plan {n}.\n" for n in range(9)}
    project = make_project(
        notes
        | {
            "arrow.md": "# Functions\n\nWrite `x => y` for a short one.\n",
            "equal.md": "# Comparing\n\nUse `!==` where types count.\n",
            "rocket.md": "# Launch\n\nPress \U0001f680 to go.\n",
            "price.md": "# Price\n\nThe pump costs 1,250 euros.\n",
            "large.md": "# Size\n\nThe tank holds 4800 litres.\n",
            "late.md": "# Shift\n\nThe bell rings at 09:30 each day.\n",
            "node.md": "# Runtime\n\nNode.js runs the scripts.\n",
        }
    )
    project.succeed("build")
    for query, path in {
        "=>": "arrow.md",
        "!==": "equal.md",
        "\U0001f680": "rocket.md",
        "1250": "price.md",
        "1,250": "price.md",
        "4,800": "large.md",
        "9:30": "late.md",
        "nodejs": "node.md",
    }.items():
        answer = project.ask(query)
        best = answer["results"][0]
        assert (best["path"], best["scores"]["keyword"]) == (path, 1.0), query
        assert answer["match"] != "none" and not answer["unknown_identifiers"], query
    assert project.ask("<=>")["unknown_identifiers"] == ["<=>"]


@pytest.mark.parametrize("fusion", FUSIONS)
def test_parts_of_an_identifier_do_not_count_as_a_match(
    make_project: MakeProject, fusion: str
) -> None:
    project = make_project(
        {
            "one.md": "# Incident CVE-2024-3095\n\nLoss of records.\n",
            "two.md": "# Incident CVE-2024-4017\n\nLoss of keys in 2024.\n",
            "three.md": "# Lunch\n\nSoup and bread.\n",
        },
        config=f'{CONFIG}[search]\nfusion = "{fusion}"\n',
    )
    project.succeed("build")
    known = project.ask("cve_2024_3095")
    assert (known["mode"], known["reason"], known["unknown_identifiers"]) == (
        "keyword",
        "identifier",
        [],
    )
    assert known["results"][0]["score"] == 1
    for query in ("CVE-2024-0000", "CVE-2024-9 CVE-2024-3095"):
        for mode in ("hybrid", "keyword", "semantic"):
            answer = project.ask(query, "--mode", mode)
            assert (answer["mode"], answer["unknown_identifiers"]) == (mode, [query.split()[0]])
            assert answer["reason"] == ("default" if mode == "hybrid" else "requested")
            assert all(result["score"] < 1 for result in answer["results"])
    # The identifier is known, but the documents that pass the filter have only its parts.
    filtered = project.ask("CVE-2024-3095", "--filter", "path=two.md")
    assert (filtered["mode"], filtered["unknown_identifiers"]) == ("hybrid", [])


def test_a_query_that_cannot_be_embedded_is_answered_by_keywords(
    make_project: MakeProject,
) -> None:
    project = make_project({"a.txt": "東京都の天気予報です。", "b.txt": "大阪の食べ物。"})
    project.succeed("build")
    answer = project.ask("天気予報")
    assert (answer["mode"], answer["reason"], answer["degraded"]) == ("keyword", "no_vectors", True)
    assert answer["results"][0]["path"] == "a.txt"


def test_a_requested_mode_is_used(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Pumps\n\nPumps keep the sump dry.\n"})
    project.succeed("build")
    for mode in ("semantic", "keyword"):
        answer = project.ask("pumps", "--mode", mode)
        assert (answer["mode"], answer["reason"]) == (mode, "requested")


def test_unavailable_operators_are_reported(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Seals\n\nThe seal ring of the pump.\n"})
    project.succeed("build")
    query = '"seal ring" pump'
    notice = 'Operators are disabled: "seal ring" was searched for as plain words.'
    assert project.ask(query)["stages"] == {"operators": {"notice": notice}}
    assert notice in project.succeed("query", query).stdout
    assert project.ask("seal ring")["stages"] == {}
