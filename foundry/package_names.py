"""Names that the package of an exported server must not have."""

import keyword
import sys

# What is importable in an exported server's environment: its dependencies and theirs, its
# development tools, and itself. A package of the same name would shadow them.
_TAKEN = frozenset("""
    tests foundry numpy fastapi starlette uvicorn httptools pydantic pydantic_core snowballstemmer
    annotated_doc annotated_types anyio click h11 idna opentelemetry sniffio typing_extensions
    typing_inspection black blib2to3 httpcore2 httpx2 iniconfig mypy mypy_extensions mypyc
    packaging pathspec platformdirs pluggy py pygments pytest pytokens ruff truststore
    hatchling pip setuptools wheel
    """.split())


def is_taken(package: str) -> bool:
    """Whether a package of this name would stand in the way of another module, or of Python."""
    return keyword.iskeyword(package) or package in sys.stdlib_module_names or package in _TAKEN
