"""An exported server with a real index as a process: reloads, workers, and shutdown."""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CONFIG, Project, write_project
from faults import EVERY_FAULT
from ports import free_port
from raw_http import read_all
from servers import alone, get, in_checkout, in_python, post
from systems import need_namespaces
from waiting import wait_until, within

from foundry.indexing.versions import open_index
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.layout import HASHED_AT_ONCE_BYTES, IndexFiles, manifest_bytes
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.retrieval.keyword_lane import KeywordLane

pytestmark = pytest.mark.usefixtures("formatted_once")

FILES = {f"n{number}.md": f"# Pump {number}\n\nIt needs seal D{number}0.\n" for number in range(40)}
TOKEN = "t" * 40


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    # No request has to queue, however slow this machine is.
    config = f"{CONFIG}\n[server]\nconcurrent_searches = 100\n"
    project = write_project(tmp_path_factory.mktemp("serving"), FILES, config, built=True)
    project.export()
    return project


@pytest.fixture(scope="module")
def export(project: Project) -> Path:
    return project.root / "dist" / "notes"


@pytest.fixture
def published(project: Project, tmp_path: Path) -> Path:
    """A folder in which two indexes are published; v1 is current."""
    folder = tmp_path / "index"
    for name in ("v1", "v2"):
        shutil.copytree(project.index, folder / name)
    change_manifest(folder / "v2", config_sha256="0" * 64)
    publish(folder, "v1")
    return folder


def change_manifest(index: Path, **values: object) -> None:
    """Change a manifest. This makes another version, because versions are named by its hash."""
    file = index / "manifest.json"
    file.write_bytes(manifest_bytes(json.loads(file.read_bytes()) | values))


def publish(folder: Path, name: str) -> None:
    (folder / "CURRENT.tmp").write_text(name + "\n", encoding="ascii")
    (folder / "CURRENT.tmp").replace(folder / "CURRENT")


class Served:
    """A server process that receives requests, and whose log is read."""

    def __init__(self, command: list[str | Path], **variables: str) -> None:
        self.process = subprocess.Popen(
            [*command, "serve", "--port", "0"] if "serve" not in command else command,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], **variables},
        )
        assert self.process.stderr is not None
        with within(self.process):
            line = self.process.stderr.readline()
        found = re.search(r"http://\S+?:(\d+)", line)
        if found is None:
            pytest.fail(line + self.process.communicate()[1])
        self.url, self.port = found[0], int(found[1])
        self.log: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(json.loads(line) for line in self.process.stderr)

    def ready(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until /readyz meets a condition; returns its response."""
        answers: list[dict[str, Any]] = []

        def is_so() -> bool:
            status, answer = self.readiness()
            answers.append(answer)
            return status == 200 and condition(answer)

        wait_until(is_so)
        return answers[-1]

    def readiness(self) -> tuple[int, dict[str, Any]]:
        """Return status and body of /readyz."""
        try:
            return 200, get(f"{self.url}/readyz")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(timeout=120)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def said(self, level: str) -> list[str]:
        return [line["message"] for line in self.log if line["level"] == level]


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """Start servers that are stopped after the test."""
    started: list[Served] = []

    def begin(command: list[str | Path], **variables: str) -> Served:
        started.append(Served(command, **variables))
        return started[-1]

    yield begin
    for served in started:
        if served.process.returncode is None:
            assert served.stop() == 0


Start = Callable[..., Served]


def test_a_new_index_is_served_without_a_restart(
    start: Start, export: Path, published: Path
) -> None:
    served = start(in_checkout(export), INDEX_DIR=str(published))
    first = served.ready(lambda answer: answer["verified"])
    assert (first["status"], first["problem"]) == ("ok", None)
    publish(published, "v2")
    second = served.ready(lambda answer: answer["index_version"] != first["index_version"])
    assert second["verified"] and second["status"] == "ok"
    publish(published, "v1")
    served.ready(lambda answer: answer["index_version"] == first["index_version"])

    # The reload is counted once the new index is served.
    def is_counted() -> bool:
        with urllib.request.urlopen(f"{served.url}/metrics") as reply:
            metrics = reply.read().decode()
        return 'index_reloads_total{result="ok"} 2.0' in metrics

    wait_until(is_counted)


def test_an_index_removed_while_it_is_opened_is_replaced_by_the_next(
    published: Path,
) -> None:
    def open_late(files: IndexFiles) -> KeywordLane:
        if files.layout.root.name == "v1":
            publish(published, "v2")
            shutil.rmtree(files.layout.root)
        return KeywordLane.open(files)

    index = OpenedIndex.open(published, open_late)
    assert index.layout.root.name == "v2"
    shutil.rmtree(published / "v2")
    with pytest.raises(IndexUnusableError, match="not an index"):
        OpenedIndex.open(published, KeywordLane.open)


def flip_a_bit(index: Path) -> None:
    file = index / "vectors.i8.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def truncate(index: Path) -> None:
    os.truncate(index / "postings.chunks.npy", 100)


def other_dimensions(index: Path) -> None:
    dense = json.loads((index / "manifest.json").read_bytes())["dense"]
    change_manifest(index, dense={**dense, "dimensions": dense["dimensions"] // 2})


def no_vectors(index: Path) -> None:
    change_manifest(index, dense=None)


def newer_format(index: Path) -> None:
    change_manifest(index, format=99)


def remove(index: Path) -> None:
    shutil.rmtree(index)


def garble(index: Path) -> None:
    (index / "manifest.json").write_bytes(b'{"format": 1, "documents": []}')


DAMAGES = (flip_a_bit, truncate, other_dimensions, no_vectors, newer_format, remove, garble)


@pytest.fixture(scope="module")
def damaging(
    export: Path, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, Path]]:
    folder = tmp_path_factory.mktemp("damaging")
    shutil.copytree(project.index, folder / "v1")
    publish(folder, "v1")
    served = Served(in_checkout(export), INDEX_DIR=str(folder))
    yield served, folder
    assert served.stop() == 0
    assert len(served.said("error")) == len(DAMAGES)


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_unusable_index_does_not_replace_the_served_one(
    damaging: tuple[Served, Path], damage: Callable[[Path], None]
) -> None:
    served, folder = damaging
    before = served.ready(lambda answer: answer["status"] == "ok" and answer["verified"])
    broken = folder / f"v{DAMAGES.index(damage) + 10}"
    shutil.copytree(folder / "v1", broken)
    change_manifest(broken, config_sha256="1" * 64)
    damage(broken)
    publish(folder, broken.name)
    degraded = served.ready(lambda answer: answer["status"] == "degraded")
    assert degraded["index_version"] == before["index_version"]
    assert "cannot be used" in degraded["problem"]
    assert str(folder) not in degraded["problem"]
    assert post(f"{served.url}/search", {"query": "pump seal"})["results"]
    # Publishing the previous index again repairs the server.
    publish(folder, "v1")
    served.ready(lambda answer: answer["status"] == "ok")


def test_the_index_may_be_removed_while_it_is_open(
    start: Start, export: Path, published: Path
) -> None:
    served = start(in_checkout(export), INDEX_DIR=str(published))
    served.ready(lambda answer: answer["verified"])
    shutil.rmtree(published)
    served.ready(lambda answer: answer["status"] == "degraded")
    assert post(f"{served.url}/search", {"query": "pump seal"})["results"]


def files_of(index: Path) -> list[Path]:
    return sorted(path for path in index.rglob("*") if path.is_file())


def until_damage_is_named(served: Served, name: str) -> None:
    """Wait until /readyz names a damaged file; until then it must answer 503."""

    def is_named() -> bool:
        status, answer = served.readiness()
        assert status == 503, (name, answer)
        return name in answer["detail"]

    wait_until(is_named)


def flip_one_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_damage_of_a_large_file_is_named_until_it_is_repaired(
    start: Start, export: Path, published: Path
) -> None:
    table = published / "v1" / "encoder" / "table.i8.npy"
    assert table.stat().st_size > HASHED_AT_ONCE_BYTES
    good = table.read_bytes()
    flip_one_byte(table)
    served = start(in_checkout(export), INDEX_DIR=str(published))
    until_damage_is_named(served, "encoder/table.i8.npy: content differs from the manifest")
    assert str(published) not in served.readiness()[1]["detail"]
    for path in ("/search?q=pump", "/documents", "/sources"):
        with pytest.raises(urllib.error.HTTPError, match="503") as caught:
            get(served.url + path)
        caught.value.close()
    assert get(f"{served.url}/healthz") == {"status": "ok"}
    # Only the file is restored, and the manifest stays unchanged.
    table.write_bytes(good)
    ready = served.ready(lambda answer: answer["verified"])
    assert ready["status"] == "ok"
    assert post(f"{served.url}/search", {"query": "pump seal"})["results"]
    # The index is damaged again, and another one is published instead.
    assert served.stop() == 0
    assert any("table.i8.npy" in message for message in served.said("error"))
    flip_one_byte(table)
    served = start(in_checkout(export), INDEX_DIR=str(published))
    until_damage_is_named(served, "encoder/table.i8.npy")
    publish(published, "v2")
    served.ready(lambda answer: answer["verified"])


@pytest.mark.slow
def test_one_wrong_byte_in_any_file_is_named(export: Path, published: Path) -> None:
    index = published / "v1"
    large = 0
    for number, file in enumerate(files_of(index)):
        name, good = file.relative_to(index).as_posix(), file.read_bytes()
        is_large = len(good) > HASHED_AT_ONCE_BYTES
        flip_one_byte(file)
        try:
            said = "; ".join(open_index(published).verify())
        except IndexUnusableError as error:
            assert not is_large
            said = str(error)
        assert name in said
        if is_large or EVERY_FAULT or number % 4 == 0:
            assert is_served_meanwhile(export, published, name) == is_large
        large += is_large
        file.write_bytes(good)
    assert large


def is_served_meanwhile(export: Path, published: Path, damaged: str) -> bool:
    """Return whether a server starts with a damaged file, which it must report in any case."""
    starting = subprocess.Popen(
        [*in_checkout(export), "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"], "INDEX_DIR": str(published)},
    )
    assert starting.stderr is not None
    said = starting.stderr.readline()
    found = re.search(r"http://\S+?:(\d+)", said)
    if found:

        def is_named() -> bool:
            with pytest.raises(urllib.error.HTTPError, match="503") as caught:
                get(f"{found[0]}/readyz")
            with caught.value as error:
                return damaged in json.load(error)["detail"]

        wait_until(is_named)
        starting.terminate()
    rest = starting.communicate(timeout=120)[1]
    assert starting.returncode == (0 if found else 1)
    assert found or damaged in said + rest
    assert "Traceback" not in said + rest
    return bool(found)


DAMAGED_LIBRARY = """
import json, os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
index = Path(sys.argv[2])
from notes import load, search_hybrid
from notes.errors import IndexUnusableError
from notes.index.reader import served

def wait_until_verified():
    while not (served.state.verified or served.state.damage):
        time.sleep(0.01)

found = {}
for file in sorted(path for path in index.rglob("*") if path.is_file()):
    name, good = file.relative_to(index).as_posix(), file.read_bytes()
    changed = bytearray(good)
    changed[len(changed) // 2] ^= 1
    os.unlink(file)
    file.write_bytes(changed)
    try:
        load(index)
        wait_until_verified()
        search_hybrid("pump seal")
        found[name] = "answered"
    except IndexUnusableError as error:
        found[name] = error.message
    os.unlink(file)
    file.write_bytes(good)
load(index)
wait_until_verified()
found["good"] = bool(search_hybrid("pump seal").hits)
print(json.dumps(found))
"""


def test_the_python_api_refuses_a_damaged_index(export: Path, published: Path) -> None:
    index = published / "v1"
    done = subprocess.run(
        [*in_python(DAMAGED_LIBRARY), str(export), str(index)],
        capture_output=True,
        check=True,
        text=True,
        timeout=120,
    )
    found = json.loads(done.stdout)
    assert found.pop("good") is True
    assert len(found) == len(files_of(index))
    for name, message in found.items():
        assert name in message, (name, message)


def test_swapped_and_cut_files_and_another_manifest_are_named(
    export: Path, published: Path
) -> None:
    index = published / "v1"
    command = [*in_checkout(export), "search", "pump"]
    files = ("chunks.ids.npy", "filters.modified.npy", "manifest.json")
    good = {name: (index / name).read_bytes() for name in files}

    def refused() -> str:
        environment = {"PATH": os.environ["PATH"], "INDEX_DIR": str(published)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        for name, content in good.items():
            (index / name).write_bytes(content)
        assert done.returncode == 1 and "Traceback" not in done.stderr
        return done.stderr

    (index / files[0]).write_bytes(good[files[1]])
    (index / files[1]).write_bytes(good[files[0]])
    said = refused()
    assert "chunks.ids.npy: " in said and "filters.modified.npy: " in said
    (index / files[0]).write_bytes(good[files[0]][:-1])
    assert f"chunks.ids.npy: {len(good[files[0]]) - 1} bytes, expected" in refused()
    (index / files[2]).write_bytes(good[files[2]].replace(b'"k1": 1.5', b'"k1": 1.4'))
    assert "manifest.json: damaged: content does not match its hash" in refused()


def test_an_index_may_be_ready_before_it_is_verified(export: Path, published: Path) -> None:
    code = (
        f"import json, sys, time; sys.path.insert(0, {str(export)!r});"
        "from notes.index.reader import OpenedIndex; from notes import load;"
        "from notes.app import create_app;"
        "from starlette.testclient import TestClient; import notes.web.routes as routes;"
        "routes.VERIFYING_TURNS = 2; OpenedIndex.verify = lambda self: time.sleep(3600);"
        "client = TestClient(create_app(), base_url='http://127.0.0.1:8000');"
        "ready = [client.get('/readyz') for _ in range(2)];"
        "search = client.get('/search', params={'q': 'pump'});"
        "print(json.dumps([[answer.status_code for answer in (*ready, search)], ready[0].json()]))"
    )
    for value, status in (("", 503), ("1", 200)):
        environment = {"READY_UNVERIFIED": value, "INDEX_DIR": str(published)}
        done = subprocess.run(
            in_python(code),
            capture_output=True,
            check=True,
            env={"PATH": os.environ["PATH"], **environment},
        )
        codes, answer = json.loads(done.stdout)
        assert codes == [status, status, 200]
        assert answer.get("verified", answer.get("detail")) in (
            False,
            "Files of the index are being verified.",
        )


class Askers:
    """Clients that send requests continuously, reusing each connection for a few of them."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._stop = threading.Event()
        self.count = count
        self.answered = 0
        self.not_accepted = 0
        self.dropped: list[str] = []
        self._threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        request = b"GET /search?q=pump+seal HTTP/1.1\r\nHost: localhost\r\n\r\n"
        while not self._stop.is_set():
            try:
                connection = socket.create_connection(("127.0.0.1", self._port), timeout=120)
            except ConnectionRefusedError:
                return
            with connection:
                for number in range(20):
                    try:
                        connection.sendall(request)
                        answer = self._read(connection)
                    except ConnectionError:
                        answer = b"reset"
                    if number == 0 and answer in (b"", b"reset"):
                        # The kernel had accepted the connection, but the server had not.
                        self.not_accepted += 1
                        break
                    if not answer.startswith(b"HTTP/1.1 200"):
                        self.dropped.append(answer[:80].decode("latin-1"))
                        break
                    self.answered += 1
                    if b"\r\nconnection: close" in answer:
                        break

    def _read(self, connection: socket.socket) -> bytes:
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(65536)
            if not piece:
                return answer
            answer += piece
        length = int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(answer.partition(b"\r\n\r\n")[2]) < length:
            piece = connection.recv(65536)
            if not piece:
                return b"cut " + answer
            answer += piece
        return answer

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_stopping_under_load_drops_nothing(
    start: Start, export: Path, workers: int, tmp_path: Path
) -> None:
    patient = tmp_path / "patient"
    shutil.copytree(export, patient)
    module = patient / "notes" / "web" / "serving.py"
    text = module.read_text(encoding="utf-8")
    assert "\nDRAINING_SECONDS = 1.0\n" in text
    # Clients here may be unable to send for longer than a second.
    text = text.replace("\nDRAINING_SECONDS = 1.0\n", "\nDRAINING_SECONDS = 100.0\n")
    module.write_text(text, encoding="utf-8")
    command = [*alone(patient), "serve", "--port", "0", "--workers", str(workers)]
    served = start(command)
    askers = Askers(served.port, 16)
    wait_until(lambda: askers.answered > 100)
    assert served.stop() == 0
    askers.stop()
    assert askers.dropped == []
    # Each client may have one failed request: the one in progress when the socket was closed.
    assert askers.not_accepted <= askers.count


@pytest.mark.slow
def test_reloads_under_load(start: Start, export: Path, published: Path) -> None:
    served = start(in_checkout(export), INDEX_DIR=str(published))
    askers = Askers(served.port, 4)
    versions = []
    for number in range(10):
        before = get(f"{served.url}/readyz")["index_version"]
        publish(published, ("v2", "v1")[number % 2])
        answer = served.ready(lambda answer, before=before: answer["index_version"] != before)  # type: ignore[misc]
        versions.append(answer["index_version"])
    wait_until(lambda: askers.answered > 50)
    askers.stop()
    assert len(set(versions)) == 2
    assert askers.dropped == []
    assert served.stop() == 0
    assert served.said("error") == []


def test_workers_share_totals_and_are_replaced(start: Start, export: Path, published: Path) -> None:
    command = [*alone(export), "serve", "--port", "0", "--workers", "2"]
    served = start(command, INDEX_DIR=str(published))
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children")
    for _ in range(20):
        assert post(f"{served.url}/search", {"query": "pump seal"})["results"]

    # A second later, every worker knows the totals.
    def all_is_known() -> bool:
        with urllib.request.urlopen(f"{served.url}/metrics") as reply:
            metrics = reply.read().decode()
        counted = 'http_requests_total{method="POST",route="/search",status="200"} 20.0'
        return counted in metrics

    wait_until(all_is_known)
    # Each worker loads newly published indexes.
    first = served.ready(lambda _: True)["index_version"]
    publish(published, "v2")
    for _ in range(30):
        served.ready(lambda answer: answer["index_version"] != first)
    killed = int(children.read_text().split()[0])
    os.kill(killed, signal.SIGKILL)

    def is_replaced() -> bool:
        alive = children.read_text().split()
        return len(alive) == 2 and str(killed) not in alive

    wait_until(is_replaced)
    for _ in range(10):
        assert post(f"{served.url}/search", {"query": "pump seal"})["results"]
    assert served.stop() == 0
    assert served.said("error") == ["a worker died"]
    assert [line["exit"] for line in served.log if line["level"] == "error"] == [-9]


def test_workers_end_with_their_parent(start: Start, export: Path) -> None:
    served = start([*alone(export), "serve", "--port", str(free_port()), "--workers", "2"])
    get(f"{served.url}/readyz")
    assert served.stop(signal.SIGKILL) == -9
    # The end of the log means that all processes have closed it; their sockets may be closed last.
    wait_until(lambda: not listens(served.port))


@pytest.mark.parametrize("workers", ["0", "-1", "1000"])
def test_invalid_numbers_of_workers_are_refused(export: Path, workers: str) -> None:
    done = subprocess.run(
        [*alone(export), "serve", "--port", "0", "--workers", workers],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--workers: takes 1 to 256" in done.stderr


def test_a_killed_server_can_be_restarted_on_its_port(start: Start, export: Path) -> None:
    first = start([*in_checkout(export), "serve", "--port", str(free_port())])
    assert post(f"{first.url}/search", {"query": "pump seal"})["results"]
    assert first.stop(signal.SIGKILL) == -9
    again = start([*in_checkout(export), "serve", "--port", str(first.port)])
    assert post(f"{again.url}/search", {"query": "pump seal"})["results"]


def test_metrics_need_a_token_if_tokens_are_set(start: Start, export: Path) -> None:
    served = start(in_checkout(export), API_TOKENS=TOKEN)
    with pytest.raises(urllib.error.HTTPError, match="401") as caught:
        get(f"{served.url}/metrics")
    caught.value.close()
    request = urllib.request.Request(
        f"{served.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request) as reply:
        assert b"http_requests_total" in reply.read()
    assert get(f"{served.url}/readyz")["status"] == "ok"
    assert served.stop() == 0
    assert TOKEN not in json.dumps(served.log)


def test_queries_are_logged_only_if_configured(start: Start, export: Path) -> None:
    for value, expected in (("", None), ("1", "pump seal")):
        served = start(in_checkout(export), LOG_QUERIES=value)
        post(f"{served.url}/search", {"query": "pump seal"})
        assert served.stop() == 0
        line = next(line for line in served.log if line.get("route") == "/search")
        assert line.get("query") == expected
        assert (line["mode"], line["reason"], line["results"]) == ("hybrid", "default", 10)


def test_levels_of_the_log(start: Start, export: Path) -> None:
    quiet = start(in_checkout(export), LOG_LEVEL="warning")
    post(f"{quiet.url}/search", {"query": "pump seal"})
    assert quiet.stop() == 0
    assert quiet.log == []
    loud = start(in_checkout(export), LOG_LEVEL="debug")
    get(f"{loud.url}/healthz")
    assert loud.stop() == 0
    assert "/healthz" in [line.get("route") for line in loud.log]


def test_head_equals_get_without_a_body(start: Start, export: Path) -> None:
    served = start(in_checkout(export))
    for path in ("/search?q=pump", "/documents", "/sources", "/healthz", "/readyz", "/metrics"):
        request = urllib.request.Request(f"{served.url}{path}", method="HEAD")
        with urllib.request.urlopen(request) as reply:
            assert (reply.status, reply.read()) == (200, b"")
            assert int(reply.headers["Content-Length"]) > 0
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(
            b"HEAD /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404") and body == b""


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=120).close()
    except ConnectionError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("log", ["/dev/full", "closed", "reader gone"])
def test_a_log_that_cannot_be_written_stops_nothing(export: Path, log: str) -> None:
    port = free_port()
    command = [*map(str, alone(export)), "serve", "--port", str(port)]
    shell = {"/dev/full": 'exec "$@" 2>/dev/full', "closed": 'exec "$@" 2>&-'}
    if log == "reader gone":
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
    else:
        process = subprocess.Popen(["sh", "-c", shell[log], "sh", *command])
    try:
        wait_until(lambda: listens(port))
        for _ in range(3):
            assert post(f"http://127.0.0.1:{port}/search", {"query": "pump seal"})["results"]
    finally:
        process.terminate()
        assert process.wait(timeout=120) == 0


def test_no_home_network_or_writable_disk_is_needed(export: Path, tmp_path: Path) -> None:
    need_namespaces("--mount", "--net", "sh", "-c", 'mount --bind "$0" "$0"', tmp_path)
    # The server runs in a separate network, as an unprivileged user, on a read-only file system.
    script = (
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ip link set lo up 2>/dev/null;'
        ' cd / && exec "$@"'
    )
    search = [*map(str, alone(export)), "search", "pump seal", "--json"]
    done = subprocess.run(
        ["unshare", "--mount", "--net", "sh", "-c", script, str(export), *search],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]


def test_too_little_memory_for_the_index_is_reported(export: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(export / "notes" / "data", index)
    file = index / "chunks.jsonl"
    with file.open("r+b") as stream:
        # The sparse file is larger than the remaining address space.
        stream.truncate(8 << 30)
    offsets = np.load(index / "chunks.offsets.npy")
    offsets[-1] = 8 << 30
    np.save(index / "chunks.offsets.npy", offsets)
    files = json.loads((index / "manifest.json").read_bytes())["files"]
    files["chunks.jsonl"]["bytes"] = 8 << 30
    written = (index / "chunks.offsets.npy").read_bytes()
    files["chunks.offsets.npy"]["sha256"] = hashlib.sha256(written).hexdigest()
    change_manifest(index, files=files)
    limited = ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", *map(str, alone(export))]
    done = subprocess.run(
        [*limited, "serve", "--port", "0"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "INDEX_DIR": str(index)},
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "chunks.jsonl" in done.stderr and "Cannot allocate memory" in done.stderr
    assert "ulimit -v" in done.stderr
    assert "Traceback" not in done.stderr
