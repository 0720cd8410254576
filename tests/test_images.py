"""The image that a Dockerfile describes: it runs unprivileged, and writes only to a volume."""

import json
import re
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import containers
import pytest
import tls_certificates
from click.testing import CliRunner
from ports import free_port
from servers import wheelhouse
from systems import need_namespaces
from test_question_log_targets import FOLDER, chosen

from foundry.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

TOKEN = "a-token-that-is-long-enough-to-be-one"
LOG = f"{FOLDER}/questions.jsonl"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, formatted_once: None) -> containers.Stage:
    """An image of a server that may log questions, behind a proxy with a certificate."""
    del formatted_once
    need_namespaces("--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
    root = tmp_path_factory.mktemp("image")
    project = root / "project"
    (project / "sources").mkdir(parents=True)
    (project / "sources" / "note.md").write_text("# Seals\n\nReplace the D40 seal yearly.\n")
    (project / "foundry.toml").write_text(chosen())
    for command in ("build", "export"):
        result = CliRunner().invoke(main, [command, str(project)])
        assert result.exit_code == 0, result.output
    (export,) = (project / "dist").iterdir()
    assert {LOG} == set(re.findall(r"/var/lib/[^`]*\.jsonl", (export / "README.md").read_text()))
    # As written by an owner whose files are private (umask 077)
    for path in (export, *export.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    wheels = wheelhouse(export)
    containers.download_uv(wheels)
    # The files of this folder are readable by every user, unlike those of tests.
    scratch = root / "scratch"
    scratch.mkdir()
    tls_certificates.contexts("proxy.example", root)
    written = (root / "server.pem").read_text()
    certificate = written[written.index("-----BEGIN CERTIFICATE") :]
    return containers.build(export, scratch, wheels, CA_CERTIFICATE=certificate)


@pytest.fixture
def environment() -> dict[str, str]:
    return {"API_TOKENS": TOKEN, "PORT": str(free_port())}


def ask(path: str, port: str, body: object = None, *, token: str = TOKEN) -> tuple[int, Any]:
    """Send GET, or POST with a body; returns the status and the response body."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


def test_image_serves_unprivileged_on_a_read_only_file_system(
    image: containers.Stage, environment: dict[str, str]
) -> None:
    certificates = image.tree.with_name("build") / "ca.pem"
    trusted = ssl.create_default_context(cafile=certificates).get_ca_certs()
    names = [dict(pair for (pair,) in each["subject"]).get("commonName") for each in trusted]
    assert "proxy.example" in names
    assert len(names) > 50
    assert not (image.tree / "ca.pem").exists()
    assert not image.variables.keys() & {"CA_CERTIFICATE", "SSL_CERT_FILE", "PIP_CERT"}
    assert list(image.tree.glob("app/my_docs_2/__pycache__/*.pyc"))
    assert list(image.tree.glob("server/lib/*/site-packages/numpy/__pycache__/*.pyc"))
    assert "HOME" not in image.variables

    refusing = image.start()
    _, message = refusing.communicate(timeout=120)
    assert refusing.returncode == 2
    assert "this server does not require a token" in message

    port = environment["PORT"]
    assert not image.is_healthy(**environment)
    with image.start(**environment) as server:
        try:
            assert server.stderr is not None
            assert any(f":{port}" in line for line in server.stderr)
            status = Path(f"/proc/{server.pid}/status").read_text()
            assert re.search(r"Uid:\t10001\t10001\t10001\t10001\n", status)
            assert re.search(r"CapEff:\t0+\n", status)
            assert image.is_healthy(**environment)
            assert ask("/healthz", port, token="")[0] == 200
            assert ask("/search?q=D40", port, token="")[0] == 401
            answer = ask("/search?q=D40", port)[1]
            assert answer["results"][0]["title"] == "Seals"
        finally:
            server.terminate()
    assert server.returncode == 0

    searching = image.start("search", "yearly seal", "--json")
    searching.communicate(timeout=120)
    assert searching.returncode == 0


def test_image_keeps_thumbs_in_its_volume(
    image: containers.Stage, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = environment["PORT"]
    # The file system of an image is read-only.
    refusing = image.start(**environment, QUESTION_LOG=LOG)
    _, message = refusing.communicate(timeout=120)
    assert refusing.returncode == 2
    assert f"QUESTION_LOG: {LOG} cannot be written: Read-only file system" in message
    monkeypatch.setattr(image, "volumes", [FOLDER])
    with image.start(**environment, QUESTION_LOG=LOG) as server:
        try:
            assert server.stderr is not None
            assert any(f":{port}" in line for line in server.stderr)
            hit = ask("/search", port, {"query": "seal"})[1]["results"][0]
            thumb = {"query": "seal", "id": hit["id"], "thumb": "up"}
            assert ask("/thumbs", port, thumb) == (200, {"kept": True})
        finally:
            server.terminate()
    assert server.returncode == 0
    (line,) = (image.tree / LOG.lstrip("/")).read_text().splitlines()
    assert json.loads(line)["thumb"] == "up"
