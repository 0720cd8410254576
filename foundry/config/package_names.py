"""Names that the package of an exported server must not have."""

import keyword
import sys
from functools import cache

from foundry.files import read_beside, templates_folder

_SERVER = "server"
"""The lock's name for the project itself."""

# Modules that can be installed next to the package, and are not in the lock under their name: those
# called otherwise than their distribution, what installs and builds, what Python looks for, the
# export's own, and the clients of services.
_TAKEN = frozenset("""
    attr blib2to3 blackd cuda functorch google grpc isympy jwt markdown_it multipart mypyc nvidia
    opentelemetry pkg_resources py pythoncom pywintypes rpds sklearn torchgen yaml
    hatchling pip wheel sitecustomize usercustomize test conftest foundry tests cohere openai
    """.split())


_PYTHONS = frozenset(read_beside(__file__, "stdlib_modules.toml")["modules"].split())
"""Modules of every supported Python, since an export may run on another one than its builder."""


def is_taken(package: str) -> bool:
    """Return whether a package of this name would hide another, or one of Python's own."""
    is_pythons = package in sys.stdlib_module_names or package in _PYTHONS
    is_module = is_pythons or package in _TAKEN or _is_locked(package)
    return keyword.iskeyword(package) or is_module


def _is_locked(package: str) -> bool:
    """Return whether a server's lock has a distribution of this name."""
    name = package.replace("_", "-")
    return name != _SERVER and f'\nname = "{name}"\n'.encode() in _lock()


@cache
def _lock() -> bytes:
    # Searched as it is: parsing it takes longer than all else that a configuration needs.
    return (templates_folder() / "uv.lock").read_bytes()
