"""Foundry's main task: builds an example, exports it, installs the export, and queries it.

Run by `make demo`. The export is installed into a separate environment without Foundry, and gets
the example's golden questions over HTTP.
"""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE / "handbook"
WORK = HERE.parent / ".demo"
EXPORT = WORK / "handbook"
SERVER = WORK / "venv"
SHOWN_RESULTS = 2


def run(*command: str | Path) -> None:
    """Print a command and run it."""
    words = [os.path.relpath(word) if isinstance(word, Path) else word for word in command]
    print("$", *words, flush=True)
    subprocess.run([str(word) for word in command], check=True)


def install_export() -> Path:
    """Install the export into a separate environment; returns its command."""
    wheels = WORK / "wheels"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, EXPORT)
    wheel = next(wheels.glob("handbook-*.whl"))
    if not SERVER.exists():
        venv.create(SERVER, with_pip=True)
    python = SERVER / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    # With everything in place already, the first needs no network; the second never does.
    run(*pip, wheel)
    run(*pip, "--no-deps", "--force-reinstall", wheel)
    return SERVER / "bin" / "handbook"


@contextmanager
def serving(command: Path) -> Iterator[str]:
    """Run the server on a free port; yields its address."""
    print("$", os.path.relpath(command), "serve --port 0", flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(
        [command, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r"http://\S+?:\d+", line)
        if address is None:
            raise SystemExit(f"the server did not start: {line}{process.stderr.read()}")
        print(line)
        yield address[0]
    finally:
        process.terminate()
        process.wait(timeout=30)


def ask(address: str, question: dict[str, object]) -> bool:
    """Ask one golden question, print the answer, and return whether it is the expected one."""
    parameters = urllib.parse.urlencode({"q": question["query"], "top_k": 5})
    with urllib.request.urlopen(f"{address}/search?{parameters}", timeout=30) as reply:
        answer = json.load(reply)
    results = answer["results"]
    depth = 1 if question.get("first") else 5
    right = any(is_relevant(result, question) for result in results[:depth])
    if "top" in question:
        right = all(
            is_relevant(result, question) for result in results[: int(str(question["top"]))]
        )
    if "mode" in question:
        right = right and answer["mode"] == question["mode"]
    print(f"{'ok  ' if right else 'MISS'}  {question['query']}  [{answer['mode']}]")
    for result in results[:SHOWN_RESULTS]:
        place = " > ".join([result["path"], *result["section"][-1:]])
        print(f"        {result['score']:.3f}  {place}")
    return right


def is_relevant(result: dict[str, object], question: dict[str, object]) -> bool:
    """Return whether a result belongs to one of the documents that answer the question."""
    relevant = question["relevant"]
    assert isinstance(relevant, list)
    return any(result[key] in relevant for key in ("path", "document_id", "id"))


def main() -> int:
    """Run everything; the exit code is 1 if a golden question got a wrong answer."""
    foundry = [sys.executable, "-m", "foundry"]
    WORK.mkdir(exist_ok=True)
    run(*foundry, "build", PROJECT)
    run(*foundry, "export", PROJECT, "--output", EXPORT, "--force")
    run(*foundry, "verify", EXPORT)
    command = install_export()
    lines = (PROJECT / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    with serving(command) as address:
        answers = [ask(address, json.loads(line)) for line in lines]
    print(f"\n{sum(answers)} of {len(answers)} golden questions answered as expected")
    print(f"Keep it running:  {os.path.relpath(command)} serve")
    print("Then ask it:      curl 'http://127.0.0.1:8000/search?q=D40'")
    return 0 if all(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
