"""The names under which a heading is found."""

import pytest
from conftest import CONFIG, MakeProject, Project, write_project

from foundry.indexing.keyword.names import heading_names, path_names
from foundry.indexing.versions import open_index

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers", "forked_readers")


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Aboleth", ["Aboleth"]),
        ("Aboleth (aberration)", ["Aboleth (aberration)", "Aboleth"]),
        ("strtol, wcstol (CRT)", ["strtol, wcstol (CRT)", "strtol, wcstol", "strtol", "wcstol"]),
        ("/Fd (Program database)", ["/Fd (Program database)", "/Fd"]),
        # Commas in a sentence separate words, not names.
        ("Gas, dust and water", ["Gas, dust and water"]),
        ("(appendix)", ["(appendix)"]),
        ("open()", ["open()"]),
        ("a,,b", ["a,,b"]),
        ("Pumps: parts", ["Pumps: parts"]),
        ("Cursor.fetch()", ["Cursor.fetch()", "fetch"]),
        ("load(path, *, x=1) -> int", ["load(path, *, x=1) -> int", "load"]),
        ("class a.Cursor(c)", ["class a.Cursor(c)", "a.Cursor", "Cursor"]),
        ("int Py_Bar(PyObject *o)", ["int Py_Bar(PyObject *o)", "Py_Bar"]),
        ("Cursor.closed", ["Cursor.closed", "closed"]),
        ("Node.js", ["Node.js"]),
        ("html_theme: str", ["html_theme: str", "html_theme"]),
        ("-f FILE, --file FILE", ["-f FILE, --file FILE", "-f", "--file"]),
    ],
)
def test_names_of_a_heading(heading: str, names: list[str]) -> None:
    assert heading_names(heading) == names


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("training.html", ["training.html", "training"]),
        ("docs/b.md", ["b.md", "docs/b.md", "b", "docs/b"]),
        (
            "1/2/3/4/5/f.md",
            [
                *("f.md", "5/f.md", "4/5/f.md", "3/4/5/f.md", "1/2/3/4/5/f.md"),
                *("f", "5/f", "4/5/f", "3/4/5/f", "1/2/3/4/5/f"),
            ],
        ),
        ("https://x.org/docs/a.html?b=c.d#e", ["a.html", "docs/a.html", "a", "docs/a"]),
        ("https://x.org", []),
        # The id of a record, and a file name that begins with a dot.
        ("75.1725", ["75.1725"]),
        ("etc/.gitignore", [".gitignore", "etc/.gitignore"]),
        ("v1.2/notes", ["notes", "v1.2/notes"]),
    ],
)
def test_names_of_a_path(path: str, names: list[str]) -> None:
    assert path_names(path) == names


FILES = {
    "guide/training.html": "<title>Working safely</title><p>Every miner learns it.</p>",
    "guide/error_handling.py": "def retry():\n    pass\n",
    "rules/30-cfr-75-325.md": "# Air quantity\n\nEnough of it.\n",
    "rules/section-1005-6.md": "# Consumers\n\nTheir liability.\n",
    "other/section-1005-6.md": "# Others\n\nOf another part.\n",
    "rules/was here.md": "# Moved\n\nThis was copied.\n",
    "elsewhere/old-place.md": "# Moved\n\nThis was copied.\n",
    # This file only mentions the names.
    "links.md": "# Links\n\n"
    + "See training.html, error_handling.py, 30-cfr-75-325 and section-1005-6.md.\n" * 9,
    "more.md": "# Training\n\nTraining and error handling, handling of errors.\n",
}


@pytest.fixture(scope="module")
def named_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The files, built with vectors and without."""
    files = {f"sources/{name}": text for name, text in FILES.items()}
    return {
        provider: write_project(
            tmp_path_factory.mktemp(provider),
            files,
            f'{CONFIG}\n[embedding]\nprovider = "{provider}"\n',
            built=True,
        )
        for provider in ("static", "none")
    }


@pytest.mark.parametrize(
    ("provider", "query", "path"),
    [
        ("static", "training.html", "guide/training.html"),
        ("static", "guide/training", "guide/training.html"),
        ("none", "error_handling.py", "guide/error_handling.py"),
        ("static", "error_handling", "guide/error_handling.py"),
        ("static", "30-cfr-75-325", "rules/30-cfr-75-325.md"),
        ("none", "rules/section-1005-6.md", "rules/section-1005-6.md"),
        ("static", "other/section-1005-6", "other/section-1005-6.md"),
        ("static", "was here.md", "rules/was here.md"),
        # This is a copy that is not indexed itself.
        ("static", "old-place.md", "rules/was here.md"),
    ],
)
def test_a_file_is_found_by_its_name(
    provider: str, query: str, path: str, named_files: dict[str, Project]
) -> None:
    answer = named_files[provider].ask(query)
    assert answer["results"][0]["path"] == path


def test_an_identifier_in_a_name_is_in_the_index(named_files: dict[str, Project]) -> None:
    answer = named_files["static"].ask("error_handling.py")
    assert (answer["mode"], answer["reason"]) == ("keyword", "identifier")
    index = open_index(named_files["static"].index)
    assert index.keyword_lane.frequency("rules/section10056.md") == 1


CODE = {
    f"{module}.py": f"class Zone{n}:\n    def size(self):\n        return {n}\n"
    for n, module in enumerate(("yard", "zoo"))
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", ["", "[search.fields]\ntitle = 0\nheadings = 0\n"], ids=["counted", "not-counted"]
)
def test_terms_of_names_sort_after_all_words(options: str, make_project: MakeProject) -> None:
    project = make_project(CODE, config=CONFIG + options)
    project.succeed("build")
    for name in ("Zone1.size", "zoo.Zone1.size", "zoo.Zone1"):
        assert project.ask(name)["results"][0]["path"] == "zoo.py"


def test_a_heading_ranks_above_a_file_of_the_same_name(make_project: MakeProject) -> None:
    project = make_project(
        {
            "sources/crt/read.md": "# _read\n\nReads from a file.\n",
            "sources/crt/posix-read.md": "# read\n\nThis POSIX function is deprecated.\n",
        }
    )
    project.succeed("build", "--quiet")
    found = [hit["path"] for hit in project.ask("read")["results"]]
    assert found[0] == "crt/posix-read.md", found
    assert project.ask("read.md")["results"][0]["path"] == "crt/read.md"
