"""A project's file of synonyms: its errors, and the entries that an index keeps."""

import json
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject

from foundry.config.project import load_config
from foundry.config.synonyms import read_synonyms
from foundry.errors import ConfigError

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "arms.md": "# Arms\n\nForward kinematics (FK) gives the pose of a hand.\n",
    "clusters.md": "# Clusters\n\nKubernetes restarts what has stopped.\n",
}
CHOSEN = f'{CONFIG}\n[search.synonyms]\nfile = "words.txt"\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("FK", "'FK' has no synonyms"),
        ("FK, , x", "has an empty form"),
        ("FK =>", "has an empty form"),
        ("=> FK", "has an empty form"),
        ("a => FK => b", "has => more than once"),
        ("FK, the", "'the' has no searchable word"),
        ("pumps, pump", "'pump' and 'pumps' are the same to a search"),
        ("FK, " + "word " * 9, "has 9 words, but only 8 are allowed"),
        (", ".join(f"w{number}" for number in range(17)), "has 17 forms, but only 16 are allowed"),
    ],
)
def test_problems_name_the_line(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "words.txt"
    file.write_text(f"# forms\n\n{line}\nFK, forward kinematics\n")
    groups, problems = read_synonyms(file, "english")
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}:3: ")
    assert problem in problems[0]
    assert (("FK", "forward kinematics"),) * 2 in groups


def test_a_file_may_have_a_byte_order_mark_and_extra_spaces(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeffFK,  forward   kinematics\r\nk8s, kube=>kubernetes\r\n".encode())
    assert read_synonyms(file, "english") == (
        ((("FK", "forward kinematics"),) * 2, (("k8s", "kube"), ("kubernetes",))),
        [],
    )


def test_problems_of_a_file_are_listed_with_the_others(make_project: MakeProject) -> None:
    project = make_project(FILES, config=f"{CHOSEN}acronym = true\n")
    (project.root / "words.txt").write_text("FK\n")
    with pytest.raises(ConfigError, match="acronym"):
        load_config(project.root)
    (project.root / "foundry.toml").write_text(f"{CHOSEN}[search.minimum_score]\n")
    with pytest.raises(ConfigError) as raised:
        load_config(project.root)
    assert "words.txt:1: 'FK' has no synonyms" in str(raised.value)
    assert "search.minimum_score" in str(raised.value)
    (project.root / "words.txt").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not valid UTF-8"):
        load_config(project.root)
    (project.root / "words.txt").unlink()
    with pytest.raises(ConfigError, match=r"words\.txt: cannot be read: No such file"):
        load_config(project.root)
    (project.root / "foundry.toml").write_text(f"{CONFIG}\n[search.synonyms]\nacronyms = false\n")
    with pytest.raises(ConfigError, match="does nothing"):
        load_config(project.root)


def test_synonyms_of_a_project(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CHOSEN)
    (project.root / "words.txt").write_text("k8s => kubernetes\n")
    project.succeed("build", "--quiet")
    listed = project.succeed("inspect", "--synonyms").stdout.splitlines()
    assert listed == [
        "k8s => kubernetes  (file)",
        "FK, Forward kinematics  (documents, 1 x)",
        "2 groups",
    ]
    groups = json.loads(project.succeed("inspect", "--synonyms", "--json").stdout)
    assert groups[0] == {"forms": ["k8s"], "found_in": "file", "searched_as": ["kubernetes"]}
    answer = json.loads(project.succeed("query", "k8s", "--json").stdout)
    assert answer["results"][0]["title"] == "Clusters"
    assert answer["stages"]["synonyms"] == {"added": {"k8s": ["kubernetes"]}}

    (project.root / "words.txt").write_text("kube => kubernetes\n")
    said = project.succeed("build").stdout
    assert "unchanged" not in said.splitlines()[0]
    assert "kube => kubernetes  (file)" in project.succeed("inspect", "--synonyms").stdout


def test_an_index_without_the_stage_has_none(make_project: MakeProject) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    refused = project.run("inspect", "--synonyms")
    assert refused.exit_code != 0
    assert "choose [search.synonyms]" in refused.stderr
