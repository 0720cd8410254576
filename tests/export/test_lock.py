"""Lock files: identical to uv's own, and installable with pip."""

import importlib.metadata
import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from faults import EVERY_FAULT
from packaging.requirements import Requirement

from foundry.errors import RenderError
from foundry.export.bills import LICENCES, format_sbom
from foundry.export.lock import (
    Asked,
    format_lock,
    format_requirements,
    read_asked,
    select_packages,
)
from foundry.export.resolution import ALWAYS, Edge, Resolution, format_condition
from foundry.rendering.environment import render

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "templates" / "uv.lock").read_text(encoding="utf-8")
RESOLUTION = Resolution(TEXT)


WORLDS = [
    {"python_full_version": f"{python}.1", "python_version": python, **platform}
    for python in ("3.11", "3.12", "3.13", "3.14")
    for platform in (
        {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"},
        {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "aarch64"},
        {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
        {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64"},
    )
]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "lock_templates", ROOT / "tools/lock_templates.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_projects() -> list[str]:
    """Return a pyproject.toml for every set of dependencies that a server may have."""
    found = []
    for values in load_tool().combinations():
        values = {**values, "name": "acme-docs", "package": "acme_docs"}
        found.append(render("server/pyproject.toml.jinja", values))
    return list(dict.fromkeys(found))


PROJECTS = all_projects()
LARGEST = max(PROJECTS, key=len)


def write_project(folder: Path, project: str) -> Asked:
    asked = read_asked(project.encode())
    (folder / "acme_docs").mkdir(parents=True)
    (folder / "acme_docs" / "__init__.py").write_text('__version__ = "0.1.0"\n')
    (folder / "README.md").write_text("")
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    (folder / "uv.lock").write_bytes(format_lock(RESOLUTION, asked))
    return asked


def uv(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "uv", *arguments, "--offline", "--no-config"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SOME = [0, PROJECTS.index(LARGEST)]
SPREAD = range(len(PROJECTS)) if EVERY_FAULT else random.Random(0).sample(range(len(PROJECTS)), 16)


@pytest.mark.parametrize(
    "number",
    [
        number if number in SOME else pytest.param(number, marks=pytest.mark.slow)
        for number in sorted({*SOME, *SPREAD})
    ],
)
def test_lock_equals_that_of_uv(number: int, tmp_path: Path) -> None:
    write_project(tmp_path, PROJECTS[number])
    before = (tmp_path / "uv.lock").read_bytes()
    uv(tmp_path, "lock")
    assert (tmp_path / "uv.lock").read_bytes() == before


@pytest.mark.parametrize("project", [PROJECTS[0], LARGEST], ids=["smallest", "largest"])
def test_requirements_equal_those_of_uv_on_every_platform(project: str, tmp_path: Path) -> None:
    asked = write_project(tmp_path, project)
    ours = format_requirements(select_packages(RESOLUTION, asked)).decode()
    theirs = uv(tmp_path, "export", "--frozen", "--no-emit-project", "--format", "requirements-txt")
    for world in WORLDS:
        assert installed(ours, world) == installed(theirs, world)


def installed(requirements: str, world: dict[str, str]) -> set[str]:
    lines = re.findall(r"(?m)^([a-z0-9][^\\#\n]*==[^\\#\n]*)", requirements)
    parsed = [Requirement(line) for line in lines]
    return {
        f"{requirement.name}{requirement.specifier}"
        for requirement in parsed
        if requirement.marker is None or requirement.marker.evaluate(world)
    }


def test_every_requirement_has_the_hashes_of_the_lock(tmp_path: Path) -> None:
    asked = read_asked(LARGEST.encode())
    text = format_requirements(select_packages(RESOLUTION, asked)).decode()
    for block in re.split(r"\n(?=[a-z])", text)[1:]:
        hashes = re.findall(r"--hash=(sha256:[0-9a-f]{64})", block)
        assert hashes
        assert all(digest in TEXT for digest in hashes)
    assert "--only-binary :all:" in text


def test_lock_names_only_the_public_index() -> None:
    assert set(re.findall(r'registry = "([^"]*)"', TEXT)) == {"https://pypi.org/simple"}
    assert set(re.findall(r'url = "(https?://[^/]*)', TEXT)) == {"https://files.pythonhosted.org"}
    assert len(TEXT) < 1_000_000


def test_lock_of_the_templates_satisfies_their_requirements() -> None:
    asked = load_tool().all_requirements()
    own = next(
        package for package in tomllib.loads(TEXT)["package"] if "registry" not in package["source"]
    )
    count = sum(len(requirements) for requirements in asked.values())
    assert len(own["metadata"]["requires-dist"]) == count, "resolve them anew with: make locks"
    for project in PROJECTS:
        read = read_asked(project.encode())
        assert select_packages(RESOLUTION, read)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('"numpy>=2,<3"', '"numpy>=2,<4"'), "numpy<4,>=2"),
        (('"numpy>=2,<3"', '"numpy>=2,<3", "leftpad"'), "leftpad"),
        (('name = "acme-docs"', 'name = "fastapi"'), "depends on a package with its own name"),
        (("dependencies", "dependences"), "cannot be read"),
        (('"numpy>=2,<3"', '"numpy >= "'), "cannot be read"),
    ],
)
def test_project_that_does_not_match_the_lock_is_refused(
    change: tuple[str, str], expected: str
) -> None:
    project = PROJECTS[0].replace(*change, 1)
    assert project != PROJECTS[0]
    with pytest.raises(RenderError) as error:
        format_lock(RESOLUTION, read_asked(project.encode()))
    assert expected in error.value.message


@pytest.mark.parametrize(
    "text", ["", "version = 2\n", "version = 1\n", "[", TEXT[: len(TEXT) // 2]]
)
def test_malformed_locks_are_refused(text: str) -> None:
    with pytest.raises(RenderError, match="cannot be read"):
        Resolution(text)


def test_conditions_are_combined_along_and_across_dependency_paths() -> None:
    lock = Resolution("""version = 1

[[package]]
name = "a"
version = "1"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "c", marker = "sys_platform == 'win32'" }]

[[package]]
name = "b"
version = "1"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "c" }]

[[package]]
name = "c"
version = "1"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "a" }]

[[package]]
name = "own"
version = "0"
source = { virtual = "." }

[package.metadata]
requires-dist = []
""")
    old = "python_version < '3.12'"
    found = lock.select([Edge("a", None, (), None), Edge("b", None, (), old)])
    conditions = {item.package.name: item.condition for item in found}
    assert conditions["a"] == ALWAYS
    assert format_condition(conditions["b"]) == old
    assert format_condition(conditions["c"]) == f"{old} or sys_platform == 'win32'"
    (only,) = lock.select([Edge("b", None, (), old)])[1:2]
    assert format_condition(only.condition) == old


def test_bill_of_materials_has_the_packages_of_the_lock(tmp_path: Path) -> None:
    asked = write_project(tmp_path, LARGEST)
    selected = select_packages(RESOLUTION, asked)
    roots = [requirement.name for requirement in asked.requirements[""]]
    bill = json.loads(format_sbom("acme-docs", "0.1.0", roots, selected, "1"))
    theirs = json.loads(
        uv(tmp_path, "export", "--frozen", "--format", "cyclonedx1.5", "--preview", "--no-dev")
    )
    purls = {component["purl"] for component in bill["components"]}
    assert purls == {component["purl"] for component in theirs["components"] if "purl" in component}
    references = {component["bom-ref"] for component in bill["components"]}
    assert references | {"acme-docs@0.1.0"} == {entry["ref"] for entry in bill["dependencies"]}
    depends = {entry["ref"]: set(entry["dependsOn"]) for entry in bill["dependencies"]}
    assert set().union(*depends.values()) == references
    assert {name.partition("@")[0] for name in depends["acme-docs@0.1.0"]} == {
        f"pkg:pypi/{name}" for name in roots
    }
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert "timestamp" not in json.dumps(bill)


def test_bill_of_materials_has_the_hashes_that_pip_is_given() -> None:
    selected = select_packages(RESOLUTION, read_asked(PROJECTS[0].encode()))
    bill = json.loads(format_sbom("acme-docs", "0.1.0", [], selected, "1"))
    places = {
        entry["bom-ref"]: (found["type"], found["url"], found["hashes"])
        for entry in bill["components"]
        for found in entry["externalReferences"]
    }
    kind, url, hashes = next(place for name, place in places.items() if "/uvicorn@" in name)
    assert (kind, url) == ("distribution", "https://pypi.org/simple/uvicorn/")
    assert [sorted(one) for one in hashes] == [["alg", "content"]]
    assert {one["alg"] for _, _, found in places.values() for one in found} == {"SHA-256"}
    listed = [one["content"] for _, _, found in places.values() for one in found]
    given = re.findall(r"--hash=sha256:([0-9a-f]{64})", format_requirements(selected).decode())
    assert sorted(listed) == sorted(given)


def declared_licence(package: str) -> str | None:
    """Return the SPDX expression that an installed package declares, or None."""
    metadata = importlib.metadata.metadata(package)
    stated = [
        text.removeprefix("License :: OSI Approved :: ")
        for field in ("License-Expression", "License", "Classifier")
        for text in metadata.get_all(field) or []
    ]
    synonyms = {
        "Apache 2.0": "Apache-2.0",
        "Apache Software License": "Apache-2.0",
        "MIT License": "MIT",
        "The MIT License (MIT)": "MIT",
        "3-Clause BSD License": "BSD-3-Clause",
    }
    expressions = [synonyms.get(text, text) for text in stated]
    return next((known for known in expressions if known in set(LICENCES.values())), None)


def test_licences_equal_those_declared_by_packages() -> None:
    locked = {
        item.package.name
        for project in PROJECTS
        for item in select_packages(RESOLUTION, read_asked(project.encode()))
    }
    assert set(LICENCES) <= locked
    installed = {
        re.sub(r"[-_.]+", "-", found.name).lower() for found in importlib.metadata.distributions()
    }
    assert {"numpy", "fastapi", "uvicorn"} <= installed
    for package in set(LICENCES) & installed:
        assert LICENCES[package] == declared_licence(package), package


def test_bill_of_materials_names_licences() -> None:
    selected = select_packages(RESOLUTION, read_asked(PROJECTS[0].encode()))
    bill = json.loads(format_sbom("acme-docs", "0.1.0", [], selected, "1"))
    assert bill["components"]
    unnamed = {entry["name"] for entry in bill["components"] if "licenses" not in entry}
    # These packages are not installed where exports are tested.
    assert unnamed <= {"colorama", "tzdata", "pywin32"}
    numpy, *_ = [entry for entry in bill["components"] if entry["name"] == "numpy"]
    (licence,) = numpy["licenses"]
    assert licence["expression"].startswith("BSD-3-Clause")


@pytest.mark.slow
def test_pip_installs_only_files_with_the_listed_hashes(tmp_path: Path) -> None:
    asked = read_asked(PROJECTS[0].encode())
    text = format_requirements(select_packages(RESOLUTION, asked)).decode()
    # The beginning, with the option for wheels alone and a few packages.
    text = "\n".join(re.split(r"\n(?=[a-z])", text)[:5]) + "\n"
    (tmp_path / "requirements.txt").write_text(text)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command = [*pip, "--dest", "wheels", "-r", "requirements.txt"]
    subprocess.run(command, cwd=tmp_path, check=True)
    wheels = sorted(path.name for path in (tmp_path / "wheels").iterdir())
    assert len(wheels) == len(installed(text, {}))
    shutil.rmtree(tmp_path / "wheels")
    changed = re.sub(r"(--hash=sha256:)[0-9a-f]{8}", r"\g<1>00000000", text)
    (tmp_path / "requirements.txt").write_text(changed)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr
