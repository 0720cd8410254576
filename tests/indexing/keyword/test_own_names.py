"""Passages that have a name or define it rank above those that mention it.

This holds for linear fusion, for RRF, and without vectors.
"""

import pytest
from conftest import CONFIG, MakeProject, Project, write_project

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers", "forked_readers")

RULE = "Liability of consumer for unauthorized transfers"
FILES = {
    "reg/1005-6.md": f"# § 1005.6 {RULE}\n\nA consumer may be held liable, within limits.\n",
    "reg/comment.md": f"# Comment for 1005.6 - {RULE}\n\n"
    + "12 CFR 1005.6 and 1005.6(a): 1005.6 sets limits, which 1005.6(b) lowers.\n" * 3,
    "tools.md": "# Tools\n\nFunctions that a client calls.\n",
    "composing.md": "# Composing\n\n## Tools\n\nTools of tools: tools in tools, and a tools page.\n"
    "Define tools, see the reference of tools.\n",
    "more.md": "# More\n\nTools tools tools: what tools are and what tools mean.\n",
    "law.md": "# Law\n\n## Article 17 Right to erasure\n\nData are erased without delay.\n",
    "cases.md": "# Cases\n\nArticle 17 was cited: article 17, erasure and the right to erasure.\n"
    * 2,
    "mapping.md": "# Localisation and mapping\n\n"
    "SLAM is the problem of drawing a map and of finding oneself in it.\n",
    "package.md": "# Packages\n\nThe SLAM package runs SLAM: define slam, slam and slam.\n",
    "index.md": "# Terms of art\n\n- **Drift**: what errors add up to.\n- **Loop**: a way back.\n",
    "errors.md": "# Correcting a drift\n\nDrift, drift and drift again; a drift of drift.\n",
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The files, with both kinds of fusion, and without vectors."""
    chosen = {
        "linear": "",
        "rrf": '[search]\nfusion = "rrf"\n',
        "keywords": '[embedding]\nprovider = "none"\n',
    }
    files = {f"sources/{name}": text for name, text in FILES.items()}
    return {
        name: write_project(
            tmp_path_factory.mktemp(name), files, f"{CONFIG}\n{options}", built=True
        )
        for name, options in chosen.items()
    }


@pytest.mark.parametrize("project", ["linear", "rrf", "keywords"])
def test_a_passage_with_a_name_ranks_first(project: str, projects: dict[str, Project]) -> None:
    for query, path in (
        ("12 CFR 1005.6", "reg/1005-6.md"),
        ("1005.6", "reg/1005-6.md"),
        (RULE, "reg/1005-6.md"),
        ("tools", "tools.md"),
        ("What are tools?", "tools.md"),
        ("define tools", "tools.md"),
        ("the tools page", "tools.md"),
        ("tools reference", "tools.md"),
        ("tools.md", "tools.md"),
        ("Article 17", "law.md"),
        ("right to erasure", "law.md"),
        ("SLAM", "mapping.md"),
        ("define SLAM", "mapping.md"),
        ("what does SLAM mean", "mapping.md"),
        ("What is SLAM?", "mapping.md"),
        ("drift", "index.md"),
        ("definition of drift", "index.md"),
    ):
        assert projects[project].ask(query)["results"][0]["path"] == path, query


def test_explanation_shows_the_gain_of_a_name(projects: dict[str, Project]) -> None:
    first, second, *others = projects["linear"].ask("tools")["results"]
    assert (first["path"], second["path"]) == ("tools.md", "composing.md")
    # 0.7 cosine + 0.3 BM25; the name adds 0.8 of the difference to 1.
    fused = 0.7 * first["scores"]["semantic"] + 0.3 * first["scores"]["keyword"]
    assert first["score"] == pytest.approx(fused + 0.8 * (1 - fused), abs=2e-6)
    assert first["boosts"]["named"] == pytest.approx(first["score"] / fused, abs=1e-5)
    assert second["boosts"]["named"] > 1
    assert all(hit["boosts"] == {} for hit in others)
    plain = projects["linear"].ask("tools that a client calls")["results"]
    assert all(hit["boosts"] == {} for hit in plain)


def test_a_title_ranks_above_a_heading_and_above_a_heading_that_begins_so(
    make_project: MakeProject,
) -> None:
    project = make_project(
        {
            "sources/a.md": "# Pumps: how to oil them\n\nOil.\n",
            "sources/b.md": "# Manual\n\n## Pumps\n\nPumps pump.\n",
            "sources/c.md": "# Guide\n\n## Pumps: parts\n\nPumps pump.\n",
            "sources/d.md": "# Pumps\n\nWater.\n",
        }
    )
    project.succeed("build")
    found = [hit["path"] for hit in project.ask("pumps", "--mode", "keyword")["results"]]
    assert found == ["d.md", "b.md", "c.md", "a.md"]
