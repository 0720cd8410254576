"""`foundry init`: its survey of a source, and the file that it writes."""

# ruff: noqa: RUF001 (Russian is meant to be that)
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Project

from foundry.cli.main import main
from foundry.config.project import LANGUAGES, load_config
from foundry.config.sources import FolderSource
from foundry.inspection.languages import COMMON_WORDS, find_language
from foundry.readers.contract import FileReader

pytestmark = pytest.mark.usefixtures("forked_readers")

TEXTS = {
    "english": "The pump is not to be started before the valve has been opened. Read this page to"
    " learn how it is done, and what to do if it does not work as you want it to.",
    "german": "Die Pumpe darf nicht eingeschaltet werden, bevor das Ventil geöffnet ist. Wie das"
    " geht und was zu tun ist, wenn es nicht gelingt, wird auf dieser Seite mit Bildern erklärt.",
    "french": "La pompe ne doit pas être mise en marche avant que la vanne soit ouverte. Lisez"
    " cette page pour savoir comment faire et ce qui est à faire si cela ne marche pas.",
    "russian": "Насос не должен быть включён, пока не открыт клапан. На этой странице описано, как"
    " это сделать и что нужно делать, если это не получилось с первого раза или для проверки.",
    "danish": "Pumpen må ikke startes, før ventilen er åbnet af en person, der har læst siden."
    " Her kan man se, hvad det er, og hvad der skal gøres, hvis det ikke virker som det skal.",
    "norwegian": "Pumpen må ikke startes før ventilen er åpnet av en person som har lest siden."
    " Her kan man se hva det er, og hva som må gjøres hvis det ikke virker; den ble laget av oss.",
}


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def init(project: Path, source: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(main, ["init", str(project), "--source", str(source), *arguments])
    assert result.exit_code == 0, result.output
    return result


def read(project: Path) -> dict[str, dict[str, str]]:
    found = tomllib.loads((project / "foundry.toml").read_text(encoding="utf-8"))
    return {**found, "source": found["sources"][0]}


IGNORED = "/.foundry/\n/.foundry.set-aside/\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, IGNORED),
        ("", IGNORED),
        ("*.log\n", f"*.log\n{IGNORED}"),
        ("*.log", f"*.log\n{IGNORED}"),
        ("/.foundry/\ndist/\n", "/.foundry/\ndist/\n/.foundry.set-aside/\n"),
        (IGNORED, IGNORED),
    ],
)
def test_created_files_are_ignored_by_git(before: str | None, after: str, tmp_path: Path) -> None:
    source = write(tmp_path / "docs", {"a.md": "# A\n\nA pump."})
    project = tmp_path / "project"
    project.mkdir()
    if before is not None:
        (project / ".gitignore").write_text(before)
    init(project, source)
    assert (project / ".gitignore").read_text() == after


def test_a_gitignore_that_is_a_link_or_not_text_is_not_changed(tmp_path: Path) -> None:
    source = write(tmp_path / "docs", {"a.md": "# A\n\nA pump."})
    for name, content in (("link", b"*.log"), ("latin", b"caf\xe9")):
        project = tmp_path / name
        project.mkdir()
        kept = tmp_path / f"{name}.txt" if name == "link" else project / ".gitignore"
        kept.write_bytes(content)
        if name == "link":
            (project / ".gitignore").symlink_to(kept)
        init(project, source)
        assert kept.read_bytes() == content


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_text_is_found(language: str) -> None:
    assert find_language(TEXTS[language]) == language


def test_every_language_has_common_words_and_numbers_have_none() -> None:
    assert COMMON_WORDS.keys() == LANGUAGES - {"none"}
    assert find_language("17.5 D40 " * 100) is None
    assert find_language("too short") is None


def test_findings_are_reported_and_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = write(
        tmp_path / "docs",
        {
            "a.md": f"---\ntitle: A\naudience: all\n---\n{TEXTS['german']}\n",
            "b.md": TEXTS["german"],
            "c.txt": TEXTS["english"],
            "d.png": b"\x89PNG\r\n\x1a\n\0\0\0\0",
            "e.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "empty.md": "",
            "secrets.yaml": "a: b",
            "prod.tfvars": "a = 1",
        },
    )
    monkeypatch.setattr(FileReader, "is_installed", lambda reader: reader.extra != "office")
    said = init(tmp_path / "p", docs).stdout
    assert f"{docs}: 5 files, of which 3 can be read" in said
    assert "       2  .md\n" in said
    assert (
        "       1  .png  (pictures: read with ocr = true, and pip install 'rag-foundry[ocr]')\n"
        in said
    )
    assert "       1  .xls  (pip install 'rag-foundry[office]' reads them)" in said
    assert "left out: looks like a secret (2), empty file (1)\n" in said
    assert 'include = ["**/*", "/PATH/OF/IT"] in [[sources]]' in said
    assert "language: german (2 of 3 read)" in said
    assert "front matter in 1 of 3 read: title, audience" in said
    assert read(tmp_path / "p")["project"]["language"] == "german"
    assert 'found: "audience"\n' in (tmp_path / "p" / "foundry.toml").read_text()


@pytest.mark.parametrize("files", [{}, {"empty.md": "", "secrets.yaml": "a: b"}])
def test_a_folder_without_documents_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"deep/.hidden": "a", **files})
    done = CliRunner().invoke(main, ["init", str(tmp_path / "p"), "--source", str(docs)])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"error: {docs}: has no file to index\n")
    assert ("       1  looks like a secret\n" in done.stderr) == bool(files)
    assert "hint: put documents there first" in done.stderr
    assert not (tmp_path / "p").exists()


@pytest.mark.usefixtures("formatted_once", "forked_servers")
def test_a_new_project_corrects_spelling(tmp_path: Path) -> None:
    copies = {f"{name}.md": f"# Pump\n\n{TEXTS['english']} {name}\n" for name in ("alpha", "omega")}
    init(tmp_path / "p", write(tmp_path / "docs", {**copies, "b.md": "# Hose\n\nCoil it up.\n"}))
    assert list(load_config(tmp_path / "p").stages) == [
        *("operators", "correction", "suggestions"),
        *("weights_by_match", "near_duplicates", "facets"),
    ]
    project = Project(tmp_path / "p")
    project.succeed("build", "--quiet")
    answer = project.ask("when is the vallve opened")
    assert answer["stages"]["correction"]["corrected"] == {"vallve": "valve"}
    assert len([hit for hit in answer["results"] if "valve" in hit["text"]]) == 1
    assert {hit["path"] for hit in project.ask("+hose pump")["results"]} == {"b.md"}


def test_options_are_written_to_the_file(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": TEXTS["english"]})
    given = ['A "quoted" title', "What it is about.\nTwo lines", "https://docs.example.com/guide"]
    options = zip(("--title", "--description", "--base-url"), given, strict=True)
    init(tmp_path / "p", docs, *(part for pair in options for part in pair))
    found = read(tmp_path / "p")
    written = [found["project"]["title"], found["project"]["description"]]
    assert [*written, found["source"]["base_url"]] == given
    assert CliRunner().invoke(main, ["build", str(tmp_path / "p"), "--quiet"]).exit_code == 0


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("My Docs", "my-docs"),
        ("Données à jour", "donnees-a-jour"),
        ("日本", "docs"),
        ("123", "docs-123"),
        ("json", "docs-json"),
        ("test", "docs-test"),
    ],
)
def test_a_project_is_named_after_its_folder(folder: str, name: str, tmp_path: Path) -> None:
    write(tmp_path, {"sources/a.md": "# Words"})
    init(tmp_path / folder, tmp_path / "sources")
    assert load_config(tmp_path / folder).project.name == name


@pytest.mark.parametrize(
    ("source", "address"),
    [("docs", "docs.example.com"), ("docs", ""), ("https://docs.example.com/", "docs.example.com")],
)
def test_base_url_must_be_a_url_and_is_only_for_folders(
    source: str, address: str, tmp_path: Path
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "a"}) if source == "docs" else source
    project = tmp_path / "p"
    arguments = ["init", str(project), "--source", str(docs), "--base-url", address]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "--base-url" in result.stderr
    assert not project.exists()


def test_a_file_url_is_refused_with_its_remedy(tmp_path: Path) -> None:
    arguments = ["init", str(tmp_path / "p"), "--source", f"file://{tmp_path}"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "hint: write it as a path, without file://" in result.stderr


def test_a_table_is_configured_by_its_columns(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f'key,name,body,team\n1,A,"{TEXTS["french"]}",us\n', encoding="utf-8")
    said = init(tmp_path / "p", table).stdout
    assert f"{table}: a table with the columns key, name, body, team" in said
    source = read(tmp_path / "p")["source"]
    assert (source["id"], source["title"], source["text"]) == ("key", "name", "body")
    assert read(tmp_path / "p")["project"]["language"] == "french"
    built = CliRunner().invoke(main, ["build", str(tmp_path / "p"), "--json", "--quiet"])
    assert '"documents": 1' in built.stdout

    assert "id: column key, title: column name, text: column body" in said
    assert "not kept: team; to keep a column, name it in metadata" in said

    table.write_text("price,sku,description\n1.5,PX-1,a valve\n2.5,PX-2,a seal\n")
    assert "id: column sku, text: column description" in init(tmp_path / "sku", table).stdout
    assert read(tmp_path / "sku")["source"]["id"] == "sku"
    assert CliRunner().invoke(main, ["build", str(tmp_path / "sku"), "--quiet"]).exit_code == 0

    table.write_text("x,y\n1,2\n1,2\n")
    said = init(tmp_path / "q", table).stdout
    assert "no column looks like the id" in said
    assert "no column looks like the text" in said

    table.write_text("")
    assert f"{table}: a table of no rows" in init(tmp_path / "r", table).stdout


@pytest.mark.parametrize(
    ("project", "source", "written"),
    [
        ("a/p", "a/docs", "../docs"),
        ("a/p", "a/p/docs", "docs"),
        ("a/p", "a", ".."),
        ("a/b/p", "a", "../.."),
        ("r/x/y/p", "r/docs", "../../../docs"),
        ("a/p", "b/docs", None),
    ],
)
def test_paths_stay_valid_if_the_project_is_moved(
    project: str, source: str, written: str | None, tmp_path: Path
) -> None:
    (tmp_path / "r" / ".git").mkdir(parents=True)
    write(tmp_path / source, {"a.md": TEXTS["english"]})
    init(tmp_path / project, tmp_path / source)
    path = read(tmp_path / project)["source"]["path"]
    assert path == (written or str((tmp_path / source).resolve()))
    (found,) = load_config(tmp_path / project).sources
    assert isinstance(found, FolderSource)
    assert found.path == (tmp_path / source).resolve()


def test_one_text_of_many_does_not_choose_the_language(tmp_path: Path) -> None:
    lists = {f"{number}.md": "Pump 12\n\nValve 7\n" for number in range(4)}
    few = write(tmp_path / "few", {"a.md": TEXTS["german"], "b.md": lists["0.md"]})
    assert "language: german (1 of 2 read)" in init(tmp_path / "p", few).output
    many = write(tmp_path / "many", {"a.md": TEXTS["german"], **lists})
    assert "language: not recognised, english is assumed" in init(tmp_path / "q", many).output


def test_a_bare_repository_is_read_by_git(tmp_path: Path) -> None:
    bare = tmp_path / "docs.git"
    subprocess.run(["git", "init", "--quiet", "--bare", bare], check=True)
    init(tmp_path / "p", bare)
    source = read(tmp_path / "p")["source"]
    assert (source["type"], source["repository"]) == ("git", "../docs.git")


def test_questions_are_asked_only_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = write(tmp_path / "docs", {"a.md": TEXTS["english"]})
    arguments = ["init", "--source", str(docs)]
    init(tmp_path / "silent", docs)
    assert read(tmp_path / "silent")["project"]["title"] == "silent"

    monkeypatch.setattr("foundry.cli.beginning.is_terminal", lambda: True)
    answers = "\nWhat it has\n"
    done = CliRunner().invoke(main, [arguments[0], str(tmp_path / "p"), *arguments[1:]], answers)
    assert done.exit_code == 0, done.output
    assert "title [p]: " in done.stdout
    project = read(tmp_path / "p")["project"]
    assert (project["title"], project["description"]) == ("p", "What it has")

    done = CliRunner().invoke(main, ["init", str(tmp_path / "q"), *arguments[1:]], "")
    assert done.exit_code != 0
    assert not (tmp_path / "q").exists()
