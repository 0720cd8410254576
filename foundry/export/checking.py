"""Checks that a rendered server can be imported, and that it answers."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from foundry.serving.running import begin_server, environment_of, find_address, run_python

START_SECONDS = 60.0
ANSWER_SECONDS = 30.0

_IMPORT = """
import importlib, json, sys
package, *modules = sys.argv[1:]
findings, missing = [], []
for module in modules:
    try:
        importlib.import_module(module)
    except ImportError as error:
        top = (error.name or package).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and top != package:
            missing.append(top)
        else:
            findings.append(f"{module}: cannot be imported: {error}")
    except Exception as error:
        findings.append(f"{module}: cannot be imported: {type(error).__name__}: {error}")
print("\\n" + json.dumps([findings, sorted(set(missing))]))
"""


def find_unimportable(folder: Path) -> tuple[list[str], list[str]]:
    """Import every module of the package in `folder`.

    Returns a line for each that fails, and the names of libraries that are not installed here.
    """
    modules = [
        ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]
    done = run_python(folder, _IMPORT, [folder.name, *modules])
    try:
        findings, missing = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, TypeError, IndexError):
        return [f"{folder.name}: its modules cannot be imported: {_last_line(done.stderr)}"], []
    return findings, missing


def find_unanswered(folder: Path, question: str | None) -> Iterator[str]:
    """Start the server of the package in `folder`; yield a line for each failure.

    The `question` is searched for, unless it is None.
    """
    arguments = ["serve", "--port", "0"]
    with begin_server(folder.parent, folder.name, arguments, environment_of(folder)) as process:
        limit = threading.Timer(START_SECONDS, process.kill)
        limit.start()
        try:
            assert process.stderr is not None
            said, address = "", None
            while address is None and (line := process.stderr.readline()):
                said += line
                address = find_address(line)
            limit.cancel()
            if address is None:
                yield f"the server does not start: {_last_line(said)}"
                return
            # The server's output is no longer needed, but a full pipe would block the server.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield from _ask(address, question)
        finally:
            limit.cancel()
            process.terminate()


def _ask(address: str, question: str | None) -> Iterator[str]:
    for path, body in (("/readyz", None), ("/search", question)):
        if path == "/search" and body is None:
            continue
        content = None if body is None else json.dumps({"query": body}).encode()
        request = Request(address + path, content, {"Content-Type": "application/json"})
        try:
            # A separate opener, since proxies in the environment are for other addresses.
            build_opener(ProxyHandler({})).open(request, timeout=ANSWER_SECONDS).close()
        except HTTPError as error:
            error.close()
            # The owner's hooks may reject the request.
            if error.code >= 500:
                yield f"{path} returns status {error.code}"
        except (URLError, OSError) as error:
            yield f"{path} cannot be reached: {error}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it prints nothing"
