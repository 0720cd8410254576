"""Updates of exports of before the modules of a package were sorted into rooms."""

import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG

import foundry.runtime
from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export.compose import compose_export
from foundry.export.decisions import Update
from foundry.export.differences import diff_export
from foundry.export.moves import GONE, MOVED, Moves
from foundry.export.update import update_export
from foundry.export.write import Export, write_export

pytestmark = pytest.mark.usefixtures("formatted_once")

FIXTURES = Path(__file__).parent / "fixtures"
FLAT = FIXTURES / "flat-export.tar.gz"
"""The text files of an export with every interface, as revision 2975bdc wrote it."""

MODULES = (FIXTURES / "flat-modules.txt").read_text(encoding="utf-8").split()
"""Every module that exports of that revision could have."""

NOTE = "# Pumps\n\nA pump has a seal.\n\n## Seals\n\nReplace the D40 seal yearly.\n"
CUSTOM = '''"""What this owner adds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .hooks import Hooks, SearchRequest
from . import search, settings
from notes import results as found

if TYPE_CHECKING:
    import notes.hooks


def before_search(request: SearchRequest) -> SearchRequest:
    """Say what people mean."""
    return replace(request, query=request.query.replace("gasket", "seal"))


def authorise(caller: notes.hooks.Caller) -> bool:
    """Keep one team out."""
    return caller.headers.get("x-team") != "sales"


HOOKS = Hooks(before_search=before_search, authorise=authorise)
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "sources").mkdir()
    (root / "sources" / "note.md").write_text(NOTE, encoding="utf-8")
    (root / "foundry.toml").write_text(CONFIG, encoding="utf-8")
    result = CliRunner().invoke(main, ["build", str(root), "--quiet"])
    assert result.exit_code == 0, result.output
    return root


@pytest.fixture(scope="module")
def new(project: Path) -> Export:
    return compose_export(load_config(project), trust=False, stale=False)


class Flat:
    """An export of the earlier revision, to edit and to update."""

    def __init__(self, root: Path, new: Export) -> None:
        self.root, self.new = root, new
        with tarfile.open(FLAT) as archive:
            files = {
                member.name: stream.read()
                for member in archive
                if (stream := archive.extractfile(member))
            }
        write_export(root, replace(new, files=files, index_place="notes/index"), force=False)

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert text.count(old) == 1, text.count(old)
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def update(self) -> Update:
        return update_export(self.root, self.new, force=False, dry_run=False)

    def generated(self, name: str) -> str:
        return self.new.files[name].decode()


@pytest.fixture
def flat(tmp_path: Path, new: Export) -> Flat:
    return Flat(tmp_path / "dist" / "notes", new)


def place_of(module: str) -> str:
    return f"notes/{MOVED[module].replace('.', '/')}.py"


def test_every_module_has_a_place_or_is_named_as_gone() -> None:
    assert {*MOVED, *GONE} >= set(MODULES)
    runtime = Path(foundry.runtime.__file__).parent
    lost = {
        place
        for place in MOVED.values()
        if not (runtime / f"{place.replace('.', '/')}.py").exists()
    }
    assert not lost, "say in foundry/export/moves.toml where the code of these modules went"


def test_untouched_export_becomes_what_an_export_would_write(flat: Flat, new: Export) -> None:
    update = flat.update()
    assert update.is_settled
    assert diff_export(flat.root, new) == ""
    assert update.moved["notes/results.py"] == place_of("results")
    assert not {*update.moved, *update.moved.values()} & {*update.added, *update.removed}
    assert not (update.followed or update.carried or update.orphaned or update.deleted)
    # Once everything has moved, there is nothing to follow.
    update = flat.update()
    assert update == Update()


def test_owners_module_its_tests_and_scripts_import_from_where_modules_went(flat: Flat) -> None:
    flat.add("notes/custom.py", CUSTOM)
    flat.add("notes/mine.py", "from .results import SearchResponse as Response\n")
    flat.add("notes/ours/tool.py", "from ..results import SearchResponse\nfrom .. import search\n")
    flat.add("tests/test_mine.py", "import notes.results\n\nR = notes.results.SearchResponse\n")
    flat.add("tests/broken.py", "from notes.results import (\n")
    flat.add("tests/test_names.py", "from notes import (\n    results,\n    search,\n)\n")
    flat.add("tests/stays.py", "from  .results  import  x;  from . import  search,y  # as it is\n")
    (flat.root / "tests" / "latin.py").write_bytes(b"# \xe9\nfrom notes.results import Hit\n")
    flat.add("scripts/ask.py", "def run():\n\tfrom notes import results, search # both\n")
    (flat.root / "scripts" / "ask.py").chmod(0o755)
    update = flat.update()
    assert update.followed == [
        "notes/custom.py",
        "notes/mine.py",
        "notes/ours/tool.py",
        "scripts/ask.py",
        "tests/latin.py",
        "tests/test_mine.py",
        "tests/test_names.py",
    ]
    assert update.kept == ["notes/custom.py"]
    assert update.unresolved == [
        "tests/broken.py: line 1: '(' was never closed; its imports stay as they were"
    ]
    results = MOVED["results"]
    room, _, name = results.rpartition(".")
    custom = flat.read("notes/custom.py")
    assert f"from .{MOVED['hooks']} import Hooks, SearchRequest\n" in custom
    assert f"import notes.{MOVED['hooks']}\n" in custom
    assert f"caller: notes.{MOVED['hooks']}.Caller)" in custom
    assert f"from notes.{room} import {name} as found\n" in custom
    assert custom.endswith(CUSTOM[CUSTOM.index('    """Keep one') :])
    assert flat.read("notes/mine.py") == f"from .{results} import SearchResponse as Response\n"
    assert flat.read("notes/ours/tool.py") == (
        f"from ..{results} import SearchResponse\nfrom .. import search\n"
    )
    assert flat.read("tests/test_mine.py") == (
        f"import notes.{results}\n\nR = notes.{results}.SearchResponse\n"
    )
    alias = "" if name == "results" else " as results"
    assert flat.read("scripts/ask.py") == (
        "def run():\n\tfrom notes import search\n"
        f"\tfrom notes.{room} import {name}{alias} # both\n"
    )
    assert (flat.root / "scripts" / "ask.py").stat().st_mode & 0o777 == 0o755
    assert flat.read("tests/broken.py") == "from notes.results import (\n"
    assert flat.read("tests/test_names.py") == (
        f"from notes import search\nfrom notes.{room} import {name}{alias}\n"
    )
    assert (
        flat.root / "tests" / "latin.py"
    ).read_bytes() == f"# \xe9\nfrom notes.{results} import Hit\n".encode("latin-1")


IMPORTS = {
    # What looks like an import, in a text and in a comment.
    '"""\nfrom notes.results import Hit\nimport notes.results\n"""\nimport notes.results\n': (
        '"""\nfrom notes.results import Hit\nimport notes.results\n"""\nimport notes.r.hits\n'
    ),
    "import notes.results  # notes.results\nA = 'notes.results'\n": (
        "import notes.r.hits  # notes.results\nA = 'notes.results'\n"
    ),
    # Of names, those are followed that an import of the whole module binds.
    "import notes.results\nA = f'é {notes.results.A}', notes.results, (notes.results.a).b\n": (
        "import notes.r.hits\nA = f'é {notes.r.hits.A}', notes.r.hits, (notes.r.hits.a).b\n"
    ),
    "import os, notes.results as r\nA = notes.results\n": (
        "import os, notes.r.hits as r\nA = notes.results\n"
    ),
    "import notes\n\ndef f(notes):\n    return notes.results\n": None,
    # Lines of all kinds.
    "\ufefffrom notes.results import A\n": "\ufefffrom notes.r.hits import A\n",
    "try:\r\n    from notes import results, b\r\nexcept A: ...\r\n": (
        "try:\r\n    from notes import b\r\n    from notes.r import hits as results\r\n"
        "except A: ...\r\n"
    ),
    "é = 1; from notes import (results,\n  b); c\n": (
        "é = 1; from notes import b; from notes.r import hits as results; c\n"
    ),
    "from .. \\\n results import (\n  A, # a\n)\n": "from ..r.hits import (\n  A, # a\n)\n",
    "from notes import (\n  results,  # ours\n)\n": None,
    "from notes import resultsets\nimport notes.results_of\n": None,
    "from notes.results import (\n": None,
}
"""Modules, and what becomes of them; None if they stay as they are."""


@pytest.mark.parametrize("text", IMPORTS)
def test_imports_are_followed_and_nothing_else_is_changed(text: str) -> None:
    moves = Moves({"notes.results": "notes.r.hits"}, {})
    followed = moves.follow("notes/ours/tool.py", text.encode())
    assert followed.decode() == (IMPORTS[text] or text)


@pytest.mark.parametrize("names", ["notes.results import Hit", "notes import results"])
def test_lines_of_another_encoding_are_left_as_they_are(names: str) -> None:
    text = f"# coding: latin-1\nA = '\xe9\xe9\xe9\xe9'; from {names}\nimport notes.results\n"
    moves = Moves({"notes.results": "notes.r.hits"}, {})
    followed = moves.follow("notes/tool.py", text.encode("latin-1"))
    expected = text.replace("import notes.results", "import notes.r.hits")
    assert followed.decode("latin-1") == expected


def test_edits_of_what_stayed_are_merged_with_imports_that_follow(flat: Flat) -> None:
    flat.edit(
        "notes/search.py",
        '        journal.note("query_length", searched=searched)\n',
        '        journal.note("query_length", searched=searched, mine=1)\n',
    )
    flat.add("notes/app.py", flat.read("notes/app.py") + "\n\nMINE = 1\n")
    flat.edit("notes/settings.json", '"port": 8000', '"port": 9000')
    flat.edit("README.md", "# notes\n", "# notes, as we know them\n")
    text = "\n\ndef test_mine() -> None:\n    from notes.results import SearchResponse\n"
    flat.add("tests/test_app.py", flat.read("tests/test_app.py") + text)
    flat.add("scripts/deploy.sh", "#!/bin/sh\n")
    (flat.root / "Dockerfile").unlink()
    update = flat.update()
    names = {"README.md", "notes/search.py", "notes/settings.json"}
    assert names <= {*update.merged, *update.kept}
    assert {*update.merged, *update.conflicts} - names == {"notes/app.py", "tests/test_app.py"}
    assert not (update.beside or update.aside or update.unresolved)
    assert update.deleted == ["Dockerfile"]
    for name, old, new in (
        (
            "notes/search.py",
            '        journal.note("query_length", searched=searched)\n',
            '        journal.note("query_length", searched=searched, mine=1)\n',
        ),
        ("notes/settings.json", '"port": 8000', '"port": 9000'),
        ("README.md", "# notes\n", "# notes, as we know them\n"),
    ):
        assert flat.read(name) == flat.generated(name).replace(old, new)
    assert "\nMINE = 1\n" in flat.read("notes/app.py")
    assert text.replace("notes.results", f"notes.{MOVED['results']}") in flat.read(
        "tests/test_app.py"
    )
    assert flat.read("scripts/deploy.sh") == "#!/bin/sh\n"
    assert not (flat.root / "Dockerfile").exists()


def test_edits_of_all_modules_are_carried_or_kept_beside_them(flat: Flat) -> None:
    modules = [module for module in MODULES if (flat.root / f"notes/{module}.py").exists()]
    for module in modules:
        name = f"notes/{module}.py"
        flat.add(name, flat.read(name) + f"\n\nMINE = {module!r}\n")
    update = flat.update()
    for module in modules:
        name = f"notes/{module}.py"
        place = place_of(module) if module in MOVED else ""
        if place == name:
            continue
        if place not in flat.new.files:
            assert update.gone[name] == GONE[module] if module in GONE else name in update.orphaned
            assert flat.read(name).endswith(f"\n\nMINE = {module!r}\n")
            continue
        assert not (flat.root / name).exists()
        kept = update.carried.get(name) or update.aside[name]
        assert kept in (place, f"{place.rpartition('/')[0]}/{module}.py.orig")
        assert f"\nMINE = {module!r}\n" in flat.read(kept)
        assert (place in update.conflicts) == ("<<<<<<< yours\n" in flat.read(place))
    assert not update.is_settled
    # Only a module that this export does not have imports what there is no more.
    absent = {*update.orphaned, *update.gone}
    assert {line.partition(":")[0] for line in update.unresolved} <= absent


OLD_RESULTS = "from .tokens import Token\n" + "".join(f"A{n} = {n}\n" for n in range(80))
OLD_PASSAGE = "from .results import A1\n" + "".join(f"B{n} = {n}\n" for n in range(80))
"""Two modules that went to the same place."""


@pytest.fixture
def pair(tmp_path: Path, new: Export, monkeypatch: pytest.MonkeyPatch) -> Flat:
    """An export of two modules that become one, which imports a third."""
    monkeypatch.setattr(
        "foundry.export.moves.MOVED", {"results": "r.results", "passage": "r.results"}
    )
    flat = Flat.__new__(Flat)
    flat.root = tmp_path / "notes"
    old = {
        "notes/settings.json": b"{}\n",
        "notes/tokens.py": b"Token = str\n",
        "notes/results.py": OLD_RESULTS.encode(),
        "notes/passage.py": OLD_PASSAGE.encode(),
    }
    merged = OLD_RESULTS.replace(".tokens", "..tokens") + OLD_PASSAGE.partition("\n")[2]
    here = {name: old[name] for name in ("notes/settings.json", "notes/tokens.py")}
    flat.new = replace(
        new, files={**here, "notes/r/__init__.py": b"", "notes/r/results.py": merged.encode()}
    )
    write_export(flat.root, replace(new, files=old, index_place="notes/index"), force=False)
    return flat


def test_edits_of_two_modules_that_became_one_are_both_there(pair: Flat) -> None:
    pair.edit("notes/results.py", "A40 = 40\n", "A40 = 41\n")
    pair.edit("notes/passage.py", "B40 = 40\n", "from .results import A2\n\nB40 = 41\n")
    update = pair.update()
    assert update.is_settled
    assert update.carried == dict.fromkeys(
        ("notes/passage.py", "notes/results.py"), "notes/r/results.py"
    )
    assert pair.read("notes/r/results.py") == (
        pair.generated("notes/r/results.py")
        .replace("A40 = 40\n", "A40 = 41\n")
        .replace("B40 = 40\n", "from .results import A2\n\nB40 = 41\n")
    )


def test_conflict_is_marked_where_the_module_is_now(pair: Flat) -> None:
    place = "notes/r/results.py"
    text = pair.generated(place).replace("A40 = 40\n", "A40 = 4\n")
    pair.new = replace(pair.new, files={**pair.new.files, place: text.encode()})
    pair.edit("notes/results.py", "A40 = 40\n", "A40 = 41\n")
    update = pair.update()
    assert (update.carried, update.conflicts) == ({"notes/results.py": place}, [place])
    assert not update.is_settled
    marked = "<<<<<<< yours\nA40 = 41\n=======\nA40 = 4\n>>>>>>> generated\n"
    assert pair.read(place) == text.replace("A40 = 4\n", marked)


@pytest.mark.parametrize("kept", [0, 39])
def test_edit_of_a_module_that_was_rewritten_is_kept_beside_it(kept: int, pair: Flat) -> None:
    text = "".join(f"{'A' if n < kept else 'C'}{n} = {n}\n" for n in range(80))
    pair.new = replace(pair.new, files={**pair.new.files, "notes/r/results.py": text.encode()})
    pair.edit("notes/results.py", "A0 = 0\n", "A0 = 41\n")
    pair.add("notes/r/results.py.orig", "own\n")
    update = pair.update()
    assert update.aside == {"notes/results.py": "notes/r/results.py.orig.orig"}
    assert not update.is_settled
    assert pair.read("notes/r/results.py") == text
    assert "A0 = 41\n" in pair.read("notes/r/results.py.orig.orig")
    assert pair.read("notes/r/results.py.orig") == "own\n"
    assert pair.update().is_settled


def test_own_file_where_a_module_goes_stays_and_the_new_one_is_beside_it(pair: Flat) -> None:
    pair.add("notes/r/results.py", "own = 1\n")
    pair.edit("notes/passage.py", "B40 = 40\n", "B40 = 41\n")
    update = pair.update()
    assert update.beside == ["notes/r/results.py"]
    assert update.carried == {"notes/passage.py": "notes/r/results.py.new"}
    assert pair.read("notes/r/results.py") == "own = 1\n"
    assert pair.read("notes/r/results.py.new") == pair.generated("notes/r/results.py").replace(
        "B40 = 40\n", "B40 = 41\n"
    )


def test_deleted_module_stays_deleted_where_it_would_be_now(pair: Flat) -> None:
    (pair.root / "notes" / "passage.py").unlink()
    update = pair.update()
    assert (update.deleted, update.moved) == ([], {"notes/results.py": "notes/r/results.py"})


def test_modules_that_are_all_deleted_stay_so(pair: Flat) -> None:
    for name in ("passage.py", "results.py"):
        (pair.root / "notes" / name).unlink()
    assert pair.update().deleted == ["notes/r/results.py"]
    assert not (pair.root / "notes" / "r" / "results.py").exists()


def test_link_in_place_of_a_module_is_kept_and_said(pair: Flat) -> None:
    path = pair.root / "notes" / "results.py"
    path.unlink()
    path.symlink_to("tokens.py")
    update = pair.update()
    assert update.orphaned == ["notes/results.py"]
    assert path.readlink() == Path("tokens.py")


def test_command_says_what_became_of_each_file(flat: Flat, project: Path) -> None:
    flat.add("notes/custom.py", CUSTOM)
    name = "notes/web_rates.py"
    flat.add(name, flat.read(name) + "\n\nMINE = 1\n")
    flat.add("notes/passages.py", "MINE = 1\n")
    dry = update_export(flat.root, flat.new, force=False, dry_run=True)
    arguments = ["update", str(flat.root), "--project", str(project)]
    result = CliRunner().invoke(main, [*arguments, "--dry-run"])
    assert "notes/results.py: moved to " + place_of("results") in result.output
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == (0 if dry.is_settled else 3)
    assert "notes/custom.py: imports updated for modules that moved\n" in result.output
    assert f"{len(dry.moved)} files moved to other folders\n" in result.output
    carried, aside = dry.carried.get(name), dry.aside.get(name)
    said = f"your edits are now in {carried}" if carried else f"your version is kept as {aside}"
    assert said in result.output
    kept = "notes/passages.py: kept, though no longer part of the export: "
    assert kept + GONE["passages"] in result.output


@pytest.mark.slow
def test_updated_export_is_verified_and_answers_with_the_owners_hooks(flat: Flat) -> None:
    flat.add("notes/custom.py", CUSTOM)
    flat.edit("README.md", "# notes\n", "# notes, as we know them\n")
    assert flat.update().is_settled
    result = CliRunner().invoke(main, ["verify", str(flat.root)])
    assert result.exit_code == 0, result.output
    command = [sys.executable, "-B", "-m", "notes", "search", "gasket", "--json"]
    done = subprocess.run(command, cwd=flat.root, capture_output=True, text=True, check=False)
    assert '"query":"seal"' in done.stdout.replace(" ", ""), done.stderr
