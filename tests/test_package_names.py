"""Names that no package of a server may have: of whatever stands beside it."""

import re
from importlib.metadata import packages_distributions

import pytest

from foundry.config.file import PACKAGE_PATTERN
from foundry.config.package_names import is_taken
from foundry.files import templates_folder


def test_every_module_of_a_locked_distribution_is_taken() -> None:
    lock = (templates_folder() / "uv.lock").read_text()
    locked = set(re.findall(r'^name = "(.+)"$', lock, re.MULTILINE))
    modules = {
        module
        for module, owners in packages_distributions().items()
        if {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners} & locked
        and re.fullmatch(PACKAGE_PATTERN, module)
        # Compiled modules are named by a hash.
        and not module.endswith("__mypyc")
    }
    assert len(modules) > 40
    assert {module for module in modules if not is_taken(module)} == set()


@pytest.mark.parametrize(
    "package", ["mcp", "torch", "sentence_transformers", "attr", "conftest", "test"]
)
def test_what_may_not_be_installed_here_is_taken_too(package: str) -> None:
    assert is_taken(package)


@pytest.mark.parametrize("package", ["server", "handbook", "docs", "mc", "source", "version"])
def test_other_names_are_free(package: str) -> None:
    assert not is_taken(package)
