"""Problems in a package: conflicts, leftovers of merges, imports of missing modules."""

import pytest

from foundry.export.package_files import (
    find_malformed,
    find_unresolved,
    find_unsettled,
    has_conflicts,
)

MARKED = b"a = 1\n<<<<<<< yours\nb = 2\n=======\nb = 3\n>>>>>>> generated\n"


@pytest.mark.parametrize(
    "content",
    [
        MARKED,
        MARKED.replace(b"\n", b"\r\n"),
        b"<<<<<<< HEAD\nx\n||||||| base\ny\n=======\nz\n>>>>>>> topic/one",
        b"<<<<<<<\n=======\n>>>>>>>\n",
    ],
)
def test_conflict_markers_of_all_tools_are_recognised(content: bytes) -> None:
    assert has_conflicts(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Heading\n=======\n",
        b"<<<<<<< yours\nno more\n",
        b">>>>>>> a\n=======\n<<<<<<< b\n",
        b"x <<<<<<< y\n=======\n>>>>>>> z\n",
        b"<<<<<<<<\n=======\n>>>>>>>>\n",
    ],
)
def test_other_text_is_not_a_conflict(content: bytes) -> None:
    assert not has_conflicts(content)


def test_leftovers_of_merges_are_found_beside_their_file() -> None:
    files = {"uv.lock": b"", "uv.lock.new": b"", "a.py": b"", "a.py.rej": b"", "notes.new": b""}
    found = find_unsettled({**files, "p/settings.json": MARKED})
    assert [line.partition(": ")[0] for line in found] == [
        "a.py.rej",
        "p/settings.json",
        "uv.lock.new",
    ]


WHOLE = {
    "p/__init__.py": b"from .search import find\n__version__ = '1'\n",
    "p/search.py": b"from . import __version__\nfrom .core.text import CLEAN, clean\n"
    b"import p.core.text\nimport numpy\ndef find(): ...\n",
    "p/core/__init__.py": b"from ..lazy import anything\nfrom ..stars import more\n",
    "p/core/text.py": b"from .. import search\nif True:\n    CLEAN = 1\nelse:\n    CLEAN = 2\n"
    b"async def clean(): ...\nfrom .fast import speed\nfrom p.bare.deep import X\n",
    "p/core/fast.cpython-311-x86_64-linux-gnu.so": b"",
    "p/lazy.py": b"def __getattr__(name): ...\n",
    "p/stars.py": b"from .search import *\n",
    "p/bare/deep.py": b"(X, Y), *Z = (1, 2), 3\nfor I in Z: pass\nwith open() as F: pass\n",
    "p/optional.py": b"try:\n    from .not_there import x\nexcept ImportError:\n    x = None\n",
    "p/marked.py": MARKED,
    "p/user.py": b"from .marked import b\n",
    "tests/test_p.py": b"from p.search import find\nfrom p import search, bare\n",
    "other.py": b"from q.nowhere import x\n",
}


def test_whole_package_has_no_findings() -> None:
    assert find_unresolved(WHOLE, "p") == []


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("p/app.py", b"\nfrom .gone import x\n", "line 2: imports .gone, which does not exist"),
        (
            "p/app.py",
            b"from . import gone\n",
            "line 1: imports gone from ., which does not define it",
        ),
        ("p/app.py", b"import p.gone\n", "line 1: imports p.gone, which does not exist"),
        (
            "p/app.py",
            b"def f():\n    from .search import found\n",
            "line 2: imports found from .search, which does not define it",
        ),
        ("p/core/x.py", b"from ..gone import x\n", "line 1: imports ..gone, which does not exist"),
        ("tests/test_x.py", b"from p.gone import x\n", "line 1: imports p.gone, which does not"),
    ],
)
def test_imports_of_missing_modules_are_named_with_their_line(
    name: str, content: bytes, expected: str
) -> None:
    (found,) = find_unresolved({**WHOLE, name: content}, "p")
    assert found.startswith(f"{name}: {expected}")


@pytest.mark.parametrize(
    "block",
    [
        "if x:",
        "for x in y:",
        "while x:",
        "with x:",
        "class X:",
        "async def f():",
        "match x:\n  case 1:",
        "try: pass\nfinally:",
        "try: pass\nexcept ValueError:",
        "try: pass\nexcept* ValueError:",
        "if x: pass\nelse:",
    ],
)
def test_imports_are_found_in_every_block(block: str) -> None:
    content = f"{block}\n    from .gone import x\n".encode()
    (found,) = find_unresolved({**WHOLE, "p/app.py": content}, "p")
    assert found.endswith("imports .gone, which does not exist")


def test_invalid_python_is_named() -> None:
    files = {
        **WHOLE,
        "p/a.py": b"\ndef f(:\n",
        "p/b.py": b"x = '\0'\n",
        "p/c.txt": b"(",
        "d.py": b"\xff",
    }
    assert [line.partition(": line")[0] for line in find_malformed(files)] == [
        "d.py",
        "p/a.py",
        "p/b.py",
    ]
    assert find_malformed(files)[1] == "p/a.py: line 2: invalid syntax"


def test_every_import_of_a_moved_module_is_named() -> None:
    moved = {**WHOLE, "p/elsewhere.py": WHOLE["p/search.py"]}
    del moved["p/search.py"]
    found = find_unresolved(moved, "p")
    assert [line.partition(":")[0] for line in found] == [
        "p/__init__.py",
        "p/core/text.py",
        "p/stars.py",
        "tests/test_p.py",
        "tests/test_p.py",
    ]
