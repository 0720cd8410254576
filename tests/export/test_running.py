"""Running an exported package: its environment, and what the run detects."""

import json
import py_compile
from pathlib import Path

import pytest

from foundry.errors import FoundryError
from foundry.export.checking import find_unanswered, find_unimportable
from foundry.runtime import hosts
from foundry.serving.running import model_variables, run_server


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "pack"


SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.send_response(STATUS)
        self.end_headers()

if __name__ == "__main__":
    assert sys.argv[1:] == ["serve", "--port", "0"]
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stderr.write(f"Serving pack on http://127.0.0.1:{server.server_port}\\n")
    sys.stderr.flush()
    server.serve_forever()
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"x.py": "raise RuntimeError('no')\n"}, ["pack.x: cannot be imported: RuntimeError: no"]),
        ({"x.py": "1 / 0\n"}, ["pack.x: cannot be imported: ZeroDivisionError: division by zero"]),
        ({"x.py": "import os\nos._exit(3)\n"}, ["pack: its modules cannot be imported: "]),
        ({"__main__.py": SERVER.replace("STATUS", "500")}, ["/search returns status 500"]),
        ({"__main__.py": "print('Nobody')\n"}, ["the server does not start: it prints nothing"]),
        (
            {"__main__.py": "if __name__ == '__main__':\n    raise OSError('in use')\n"},
            ["the server does not start: OSError: in use"],
        ),
    ],
)
def test_modules_are_imported_and_the_server_is_queried(
    files: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    whole = {"__init__.py": "", "__main__.py": SERVER.replace("STATUS", "403"), **files}
    package = make(tmp_path, whole)
    findings, missing = find_unimportable(package)
    findings += find_unanswered(package, "what?") if not findings else ()
    assert len(findings) == len(expected)
    assert all(map(str.startswith, findings, expected))
    assert missing == []


def test_libraries_that_are_missing_are_listed(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "a.py": "import not_installed.at_all\n",
        "b.py": "from . import a\n",
    }
    assert find_unimportable(make(tmp_path, files)) == ([], ["not_installed"])


def test_bytecode_in_the_folder_is_not_run(tmp_path: Path) -> None:
    source = make(tmp_path, {"__init__.py": "", "below/x.py": "1 / 0\n"}) / "below" / "x.py"
    py_compile.compile(
        str(source), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    source.write_text("")
    assert find_unimportable(tmp_path / "pack") == ([], [])
    source.with_name("y.py").write_text("1 / 0\n")
    py_compile.compile(str(source), cfile=str(source.with_name("z.pyc")), doraise=True)
    source.write_text("from . import z\n")
    findings, _ = find_unimportable(tmp_path / "pack")
    assert [line.partition(":")[0] for line in findings] == ["pack.below.x", "pack.below.y"]


def test_unchanged_runtime_modules_run_from_the_installation(tmp_path: Path) -> None:
    original = Path(hosts.__file__)
    shows = "from .hosts import plain_address as f\nprint(__file__, f.__code__.co_filename)\n"
    files = {"__init__.py": "", "__main__.py": shows, "hosts.py": "raise OSError('planted')\n"}
    copy = make(tmp_path, files) / "hosts.py"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    planted = py_compile.compile(str(copy), doraise=True, invalidation_mode=unchecked)
    begun = str(copy.with_name("__main__.py"))
    copy.write_bytes(original.read_bytes())
    assert run_server(tmp_path, "pack", []).stdout.split() == [begun, str(original)]
    copy.write_bytes(original.read_bytes() + b"\n")
    assert run_server(tmp_path, "pack", []).stdout.split() == [begun, str(copy)]
    # Only the bytecode that was planted is in the folder.
    assert [str(path) for path in tmp_path.rglob("*.pyc")] == [planted]


SHOWS = (
    "import json, os, sys; print(json.dumps([sys.argv[1:], sys.flags.isolated, dict(os.environ)]))"
)


def test_server_gets_little_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path, {"__init__.py": "", "__main__.py": SHOWS}).parent
    settings = folder / "pack" / "settings.json"
    settings.write_text('{"embedding": {"api_key_env": "ACME_KEY"}}')
    for name in ("ACME_KEY", "OTHER_KEY", "DATABASE_URL", "INDEX_DIR", "QDRANT_URL"):
        monkeypatch.setenv(name, "mine")
    more = {"QDRANT_URL": "given", "INDEX_DIR": str(tmp_path / "index")}
    done = run_server(folder, "pack", ["a", "b"], variables=more)
    arguments, isolated, environment = json.loads(done.stdout)
    assert (arguments, isolated, done.returncode) == (["a", "b"], 1, 0)
    assert environment["ACME_KEY"] == environment["DATABASE_URL"] == "mine"
    assert environment["INDEX_DIR"] == str(tmp_path / "index")
    assert environment["QDRANT_URL"] == "given"
    assert "OTHER_KEY" not in environment
    for text in ("{", "[]", '{"embedding": {}}'):
        settings.write_text(text)
        _, _, environment = json.loads(run_server(folder, "pack", []).stdout)
        assert environment["DATABASE_URL"] == "mine"
        assert not {"ACME_KEY", "INDEX_DIR"} & environment.keys()


def test_server_that_does_not_answer_in_time_is_an_error(tmp_path: Path) -> None:
    folder = make(tmp_path, {"__main__.py": "import time; time.sleep(3600)\n"}).parent
    with pytest.raises(FoundryError, match="did not answer within 1 seconds"):
        run_server(folder, "pack", [], time_limit=0.6)


def test_variables_of_the_language_model_are_found_by_prefix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLM_MODEL", "small")
    monkeypatch.setenv("MY_LLM_MODEL", "large")
    found = model_variables()
    assert found["LLM_MODEL"] == "small"
    assert all(name.startswith("LLM_") for name in found)
