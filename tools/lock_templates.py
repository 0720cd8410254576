"""Resolves everything that a server may depend on into templates/uv.lock: `make locks`.

The templates are rendered with every choice that affects dependencies, and uv resolves all
requirements together, from PyPI. Run this when a bound in a template changes, and before a release.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from foundry.features.interfaces import INTERFACES
from foundry.features.operation import HTTP
from foundry.features.providers import PROVIDERS
from foundry.features.stages import STAGES
from foundry.features.stores import STORES
from foundry.files import templates_folder
from foundry.rendering.environment import render

LOCK = "uv.lock"


def combinations() -> list[dict[str, object]]:
    """Yield the values of the template of pyproject.toml, once for every set of dependencies."""
    sets = {frozenset(HTTP.dependencies)}
    sets = {each | {*provider.dependencies} for each in sets for provider in PROVIDERS.values()}
    sets = {each | {*store.dependencies} for each in sets for store in STORES.values()}
    sets |= {each.union(*(stage.dependencies for stage in STAGES.values())) for each in sets}
    for interface in INTERFACES.values():
        sets |= {each | {*interface.dependencies} for each in sets}
    names = {"name": "server", "package": "server", "description": "", "hooks": True}
    return [
        {**names, "dependencies": dependencies}
        for dependencies in sorted(map(sorted, sets), key=lambda each: (len(each), each))
    ]


def all_requirements() -> dict[str, list[str]]:
    """Return the sorted requirements of all combinations by extra; "" for required ones."""
    found: dict[str, set[str]] = {}
    for values in combinations():
        project = tomllib.loads(render("server/pyproject.toml.jinja", values))["project"]
        found.setdefault("", set()).update(project["dependencies"])
        for extra, requirements in project["optional-dependencies"].items():
            found.setdefault(extra, set()).update(requirements)
    return {extra: sorted(requirements) for extra, requirements in found.items()}


def main() -> None:
    """Write templates/uv.lock; locked versions are kept, unless --upgrade is given."""
    requirements = all_requirements()
    lines = ["[project]", 'name = "server"', 'version = "0"', 'requires-python = ">=3.11"']
    lines += [f"dependencies = {requirements.pop('')}", "[project.optional-dependencies]"]
    lines += [f"{extra} = {wanted}" for extra, wanted in requirements.items()]
    lock = templates_folder() / LOCK
    with tempfile.TemporaryDirectory(prefix="foundry-") as scratch:
        (Path(scratch) / "pyproject.toml").write_text("\n".join(lines), encoding="utf-8")
        if lock.exists():
            shutil.copy(lock, scratch)
        # The settings of this machine could put addresses other than PyPI's into the lock.
        command = [sys.executable, "-m", "uv", "lock", "--no-config", "--default-index"]
        command += ["https://pypi.org/simple", *sys.argv[1:]]
        subprocess.run(command, cwd=scratch, check=True)
        shutil.copy(Path(scratch) / LOCK, lock)


if __name__ == "__main__":
    main()
