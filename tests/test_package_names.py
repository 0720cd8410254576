"""Names that a server's package may not have, because of other modules."""

import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from foundry.config import package_names
from foundry.config.package_names import is_taken
from foundry.features.feature import PACKAGE_PATTERN
from foundry.files import templates_folder

CONFIG = Path(package_names.__file__).parent


def test_module_names_of_locked_distributions_are_reserved() -> None:
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
def test_modules_of_other_platforms_are_reserved_too(package: str) -> None:
    assert is_taken(package)


@pytest.mark.parametrize(
    "package",
    [
        # These modules were removed after 3.11, removed after 3.12, or are new in 3.14.
        *("asynchat", "asyncore", "distutils", "imp", "smtpd"),
        *("aifc", "cgi", "chunk", "crypt", "imghdr", "nis", "pipes", "telnetlib", "uu", "xdrlib"),
        *("annotationlib", "compression"),
        # These modules belong to other operating systems.
        *("msvcrt", "winreg", "nt"),
    ],
)
def test_standard_modules_of_supported_pythons_are_reserved(package: str) -> None:
    assert is_taken(package)


def test_standard_modules_of_this_python_are_listed() -> None:
    own = {name for name in sys.stdlib_module_names if re.fullmatch(PACKAGE_PATTERN, name)}
    listed = (CONFIG / "stdlib_modules.toml").read_text("utf-8").partition('"""')[2].split()
    assert sys.version_info >= (3, 15) or own <= {*listed}


@pytest.mark.parametrize("package", ["server", "handbook", "docs", "mc", "source", "version"])
def test_other_names_are_allowed(package: str) -> None:
    assert not is_taken(package)
