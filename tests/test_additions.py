"""The recipes of docs/developing.md, followed in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CONFIG
from servers import check_types

import foundry
from foundry.files import templates_folder

RECIPES = (Path(__file__).parent.parent / "docs" / "developing.md").read_text("utf-8")
NOTES = """# Pumps

Replace the seal.

# Valves

Open the valve before the pump is primed, and close it again when the water has come, so that the
pipe does not run dry while nobody is there to see it.
"""


MORE = """
[[sources]]
type = "notes"
texts = ["# Whistle\\n\\nBlow it when the pump stops."]

[search.few_words]
characters = 60

[export]
targets = ["nomad"]
"""


def block_of(kind: str, number: int) -> str:
    """Return the n-th code block of a recipe, from 0."""
    recipe = RECIPES.partition(f"### A {kind}\n")[2].partition("\n### ")[0]
    return re.findall(r"(?ms)^```(?:python|jinja)\n(.*?)^```$", recipe)[number]


def insert(path: Path, before: str, text: str) -> None:
    """Insert a text before the only occurrence of another in a file."""
    content = path.read_text("utf-8")
    assert content.count(before) == 1, (path, before)
    path.write_text(content.replace(before, text + before), "utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of Foundry to which a stage, a format, a source and a target were added."""
    root = tmp_path_factory.mktemp("checkout")
    package = shutil.copytree(Path(foundry.__file__).parent, root / "foundry")
    shutil.copytree(templates_folder(), root / "templates")
    stages = package / "features" / "stages" / "ranking.py"
    (package / "runtime" / "retrieval" / "stages" / "few_words.py").write_text(block_of("stage", 0))
    insert(stages, "STAGES = (", block_of("stage", 1) + "\n\n")
    stages.write_text(
        stages.read_text("utf-8").replace("STAGES = (", "STAGES = (FewWords, "), "utf-8"
    )
    registry = package / "readers" / "registry.py"
    (package / "readers" / "formats" / "recutils.py").write_text(block_of("format", 0))
    insert(registry, "    saved_page,\n", "    recutils,\n")
    insert(registry, "    notebook.READER,\n", "    recutils.READER,\n")
    config = package / "config" / "sources.py"
    (package / "config" / "note_sources.py").write_text(block_of("source", 0))
    (package / "sources" / "notes.py").write_text(block_of("source", 1))
    named = "from foundry.config.note_sources import NotesSource\n"
    insert(config, "from foundry.config.web_sources import (", named)
    insert(config, "FolderSource | RecordsSource | GitSource", "NotesSource | ")
    insert(config, '    "git": GitSource,\n', '    "notes": NotesSource,\n')
    fetching = package / "sources" / "__init__.py"
    insert(fetching, "from foundry.config.web_sources import WebSource\n", named)
    insert(fetching, "from foundry.sources.fetched import", "from foundry.sources import notes\n")
    insert(fetching, "    (GitSource, git.fetch),\n", "    (NotesSource, notes.fetch),\n")
    targets = package / "features" / "targets.py"
    insert(targets, "TARGETS: dict", block_of("target", 0) + "\n\n")
    insert(targets, "Procfile()", "Nomad(), ")
    (root / "templates" / "server" / "nomad.hcl.jinja").write_text(block_of("target", 1))
    return root


def test_a_server_with_the_added_parts_works(checkout: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "notes.md").write_text(NOTES)
    (sources / "parts.rec").write_text("# Of the shed.\nName: Gasket\nUse: keeps water\n+ in\n")
    (tmp_path / "foundry.toml").write_text(CONFIG + MORE)

    def run(*command: str, folder: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-P", *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for command in ("build", "export"):
        run("-m", "foundry", command, str(tmp_path), folder=tmp_path)
    (export,) = (tmp_path / "dist").iterdir()
    assert "boost_few_words(" in (export / "notes" / "search.py").read_text()
    assert "at most 60 characters are multiplied by 1.1" in (export / "README.md").read_text()
    code = (
        "import sys; sys.path.insert(0, '.'); from notes import search_hybrid\n"
        "answer = search_hybrid('pump')\n"
        "print({hit.title: hit.boosts.get('few_words') for hit in answer.hits})\n"
        "print(*answer.explanation)\n"
        "print(search_hybrid('gasket').hits[0].text)\n"
        "print(search_hybrid('whistle').hits[0].source)"
    )
    said = run("-c", code, folder=export)
    assert "short passages were favoured." in said and "1.1" in said
    assert "Use: keeps water in" in said and "shed" not in said
    assert said.endswith("\nnotes\n")
    assert 'job "notes" {' in (export / "nomad.hcl").read_text()
    check_types(export, "notes")
