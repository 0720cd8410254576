"""A server with everything optional left out: for one process on one machine, or behind a proxy."""

import subprocess
import urllib.error
from pathlib import Path

import pytest
from conftest import CONFIG, Project
from servers import get, in_checkout, post, serving

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

OPTIONS = """
[embedding]
provider = "none"

[server]
mcp = false
chat = false
page = false
documents = false
command_line = false
hooks = false
callers = false
monitoring = false
reloading = false

[export]
targets = ["systemd"]
"""


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(tmp_path_factory.mktemp("small"))
    (project.root / "sources").mkdir()
    (project.root / "sources" / "note.md").write_text("# Pumps\n\nReplace the seal.\n")
    (project.root / "foundry.toml").write_text(CONFIG + OPTIONS)
    project.succeed("build", "--quiet")
    return project.export()


def test_files_of_disabled_features_are_absent(export: Path) -> None:
    web = {path.stem for path in (export / "notes" / "web").glob("*.py")}
    assert web == {
        *(
            "__init__",
            "connections",
            "filtered",
            "middleware",
            "no_tokens",
            "openapi",
            "problems",
        ),
        *("process", "requests", "routes", "serving", "slots", "stopping"),
        *("unfinished", "workers"),
    }
    assert not (export / "Dockerfile").exists()
    for file in ("README.md", ".env.example", "notes/settings.json"):
        text = (export / file).read_text()
        left_out = ("API_TOKENS", "PUBLIC_URL", "per_minute", "notes search")
        assert not [each for each in left_out if each in text]


def test_only_search_endpoints_are_served(export: Path) -> None:
    with serving(in_checkout(export)) as address:
        found = post(f"{address}/search", {"query": "seal"})["results"]
        assert [hit["title"] for hit in found] == ["Pumps"]
        assert list(get(f"{address}/openapi.json")["paths"]) == ["/search", "/healthz", "/readyz"]
        filtered = post(f"{address}/search", {"query": "seal", "filters": {"path": "other/"}})
        assert filtered["results"] == []
        with pytest.raises(urllib.error.HTTPError, match="422") as refused:
            post(f"{address}/search", {"query": "seal", "facets": True})
        assert "exported without it" in refused.value.read().decode()
        refused.value.close()
        for path in ("documents", "sources", f"chunks/{found[0]['id']}", "metrics"):
            with pytest.raises(urllib.error.HTTPError, match="404") as refused:
                get(f"{address}/{path}")
            refused.value.close()


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        ([], {"API_TOKENS": "t" * 32}, "this server does not check tokens"),
        (["--host", "0.0.0.0"], {}, "0.0.0.0 can be reached from other machines"),
    ],
)
def test_options_of_disabled_features_are_refused(
    export: Path, arguments: list[str], variables: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [*in_checkout(export), "serve", "--port", "0", *arguments],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
