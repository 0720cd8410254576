"""Aliases in a document's front matter count as its names."""

import pytest
from conftest import MakeProject, Project

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

HERON = """---
title: Nycticorax
aliases: [Night heron, ZX-81]
---
It feeds at dusk, and stands still for hours.

## Nest

It builds in reeds.
"""
OTHERS = {
    "crane.md": "# Crane\n\nA crane dances at night; it is no heron.\n",
    "herons.md": "# Herons\n\nA grey heron is seen by day; at night it sleeps in trees.\n",
}


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    project = make_project({"bird.md": HERON, **OTHERS})
    project.succeed("build", "--quiet")
    return project


@pytest.mark.parametrize("alias", ["Night heron", "ZX-81", "night heron?"])
def test_a_document_is_found_by_its_alias(project: Project, alias: str) -> None:
    found = project.ask(alias)
    assert "bird.md" in [hit["path"] for hit in found["results"]]
    assert found["unknown_identifiers"] == []
    by_words = project.ask(alias, "--mode", "keyword")["results"]
    assert (by_words[0]["path"], by_words[0]["section"]) == ("bird.md", [])
