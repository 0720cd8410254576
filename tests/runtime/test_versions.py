"""One version of each page among the results."""

import pytest
from conftest import CONFIG, MakeProject

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")


def test_a_project_shows_one_version(make_project: MakeProject) -> None:
    files = {
        "sources/v1/seal.md": "# Seal\n\nReplace the seal yearly.",
        "sources/v1/b.md": "# Other\n\nOther.",
        "sources/v2/seal.md": "# Seal\n\nReplace the seal monthly.",
    }
    config = f'{CONFIG}\n[search.versions]\nfolders = ["v2", "v1"]\n'
    project = make_project(files, config=config)
    project.succeed("build", "--quiet")
    answer = project.ask("replace the seal")
    assert answer["results"][0]["path"] == "v2/seal.md"
    assert "v1/seal.md" not in {hit["path"] for hit in answer["results"]}
    assert answer["stages"]["versions"] == {"left_out": 1}
    assert project.ask("replace the seal v1")["results"][0]["path"] == "v1/seal.md"
    twice = config.replace('"v1"', '"v1/", "v1"')
    refused = make_project(files, config=twice, name="twice").run("build")
    assert "search.versions.folders[2]: 'v1' is listed twice" in refused.stderr
