"""Docs have all commands, options and keys, and their commands, links and references are right."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import write_references
import yaml
from packaging.requirements import Requirement
from pydantic import BaseModel

from foundry.cli.main import GROUPS, load_command
from foundry.config.export import ExportSection
from foundry.config.file import (
    BuildSection,
    ChunkingSection,
    EmbeddingSection,
    ProjectSection,
    ServerSection,
)
from foundry.config.search import FieldsSection, SearchSection
from foundry.config.sources import FolderSource, RecordsSource
from foundry.config.web_sources import SitemapSource, SiteSource, UrlSource
from foundry.features.stages import STAGES
from foundry.features.stores import StoreSection

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in (README, *sorted((ROOT / "docs").glob("*.md")))
}
TEXT = "\n".join(PAGES.values())
COMMANDS = {name: load_command(name) for modules in GROUPS.values() for name in modules}
TEMPLATE = (ROOT / "templates" / "foundry.toml.jinja").read_text(encoding="utf-8")
SECTIONS: list[type[BaseModel]] = [
    ProjectSection,
    FolderSource,
    RecordsSource,
    UrlSource,
    SitemapSource,
    SiteSource,
    BuildSection,
    ChunkingSection,
    EmbeddingSection,
    SearchSection,
    StoreSection,
    ServerSection,
    ExportSection,
    FieldsSection,
    *STAGES.values(),
]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_and_its_options_are_documented(name: str) -> None:
    assert re.search(rf"\bfoundry {name}\b", TEXT)
    missing = [
        option
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if not re.search(rf"(?<![\w-]){re.escape(option)}\b", TEXT)
    ]
    assert not missing


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_is_described(section: type[BaseModel]) -> None:
    missing = [
        key
        for key in section.model_fields
        if not re.search(
            rf"`{key}[`]|`{key} = |\[search\.{key}\]|(?m:^(?:# )?{key} = )", TEXT + TEMPLATE
        )
    ]
    assert not missing


def test_references_match_models_commands_and_servers() -> None:
    for page, text in PAGES.items():
        assert write_references.write(text) == text, f"{page.name}: run make docs"
    found = re.findall(r"<!-- reference: ([\w-]+) -->", TEXT)
    assert sorted(found) == sorted(write_references.BLOCKS)


def test_documented_commands_exist() -> None:
    blocks = "\n".join(re.findall(r"```(?:sh|bash|console)?\n(.*?)```", TEXT, re.DOTALL))
    names = set(re.findall(r"(?m)(?:^|\$ |&& )foundry ([a-z]+)", blocks))
    assert names
    assert names <= set(COMMANDS)


def test_readme_is_short_and_links_to_every_page() -> None:
    assert len(PAGES[README].splitlines()) <= 150
    for page in PAGES.keys() - {README}:
        assert f"](docs/{page.name})" in PAGES[README]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_have_targets(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", PAGES[page]):
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), target
        if anchor:
            found = re.findall(r"(?m)^#+ (.+)$", path.read_text(encoding="utf-8"))
            assert anchor in {
                re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in found
            }


def test_every_command_and_option_has_help() -> None:
    for command in COMMANDS.values():
        assert command.help
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                described = parameter.help or isinstance(parameter.type, click.Choice)
                assert described or parameter.type.name == "integer range", parameter.name


def test_foundry_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foundry", "--help"], capture_output=True, text=True, check=True
    )
    for name in COMMANDS:
        assert f"foundry {name}" in done.stdout or f"\n  {name} " in done.stdout
    for code in ("0 ", "1 ", "2 ", "130 "):
        assert re.search(rf"\n +{code}", done.stdout)


def test_lock_matches_the_project() -> None:
    lock = ROOT / "uv.lock"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = {
        package["name"]: package.get("version")
        for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    }
    optional = project["optional-dependencies"].values()
    for text in (*project["dependencies"], *(text for group in optional for text in group)):
        requirement = Requirement(text)
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert name in locked, text
        if locked[name] is not None and name != project["name"]:
            assert requirement.specifier.contains(locked[name]), (text, locked[name])


def test_workflows_test_the_supported_python_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each)
        for each in project["classifiers"]
    ]
    promised = [match[1] for match in found if match]
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["all"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"
