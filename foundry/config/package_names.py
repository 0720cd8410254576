"""Checks the names of exported packages against names that are taken."""

import keyword
import sys
from functools import cache

from foundry.files import read_beside, templates_folder

_SERVER = "server"
"""Name of the project itself in the lock file."""

# Modules that may be installed next to the package but are not in the lock file under this name:
# modules named differently from their distribution, tools that install and build, modules that
# Python looks for, the export's own modules, and clients of services.
_TAKEN = frozenset("""
    attr blib2to3 blackd cuda functorch google grpc isympy jwt markdown_it multipart mypyc nvidia
    opentelemetry pkg_resources py pythoncom pywintypes rpds sklearn torchgen yaml
    hatchling pip wheel sitecustomize usercustomize test conftest foundry tests cohere openai
    """.split())


_PYTHONS = frozenset(read_beside(__file__, "stdlib_modules.toml")["modules"].split())
"""Modules of every supported Python, since an export may run on another version."""


def is_taken(package: str) -> bool:
    """Return whether a package must not have this name.

    It must not be a Python keyword, nor the name of a module that is part of Python or may be
    installed next to the package.
    """
    is_pythons = package in sys.stdlib_module_names or package in _PYTHONS
    is_module = is_pythons or package in _TAKEN or _is_locked(package)
    return keyword.iskeyword(package) or is_module


def _is_locked(package: str) -> bool:
    """Return whether a server's lock file has a distribution of this name."""
    name = package.replace("_", "-")
    return name != _SERVER and f'\nname = "{name}"\n'.encode() in _lock()


@cache
def _lock() -> bytes:
    # The lock file is searched as text: parsing it takes longer than all other work on a
    # configuration.
    return (templates_folder() / "uv.lock").read_bytes()
