"""Builds on a Ray cluster: the same bytes as a local build, whatever happens to a node."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from configurations import chunking
from conftest import CONFIG, MakeProject, Project
from document_files import Text, docx, paragraph, pdf, slow_rst
from ports import free_port
from processes import foundry, snapshot
from ray_clusters import RunningCluster, is_worker, ray_cluster
from sharing import begin_foundry
from tiny_transformers import write_transformer
from waiting import wait_until

import foundry as package
from foundry.building.documents.cache import CACHE_NAME
from foundry.building.documents.encoding import encode_result
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.programs import installation
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.workers import Made
from foundry.building.engines import closing_engine
from foundry.building.options import BuildOptions
from foundry.building.ray import tasks
from foundry.building.ray.documents import BATCHES_AHEAD, RayPool
from foundry.building.ray.embedding import CONCURRENT_CALLS, place_on_nodes
from foundry.building.ray.tasks import check_installation
from foundry.cli.main import main
from foundry.config.file import EmbeddingSection
from foundry.config.search import DEFAULT_FIELDS
from foundry.documents import RawDocument
from foundry.embedding.providers.models import open_model
from foundry.errors import BuildError, RequestError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

SECONDS = 120
"""Time after which something counts as stuck."""

PAGE = [[Text(10, 600, "some words about a pump")]]
ROW = "/DecodeParms<</Predictor 12/Columns 2147483647/Colors 32/BitsPerComponent 16>>"
TABLE = """
[[sources]]
type = "records"
name = "rows"
path = "foundry/rows.jsonl"
"""


def mixed_files() -> dict[str, str | bytes]:
    """Files of all kinds, some of them unreadable."""
    return {
        "a.md": "---\ntags: [b, a]\n---\n# Seals\n\nReplace the D40 seal yearly.\n",
        "copy of a.md": "---\ntags: [b, a]\n---\n# Seals\n\nReplace the D40 seal yearly.\n",
        "sources/deep/größe.html": "<title>Valves</title><h1>Valves</h1><p>Close them slowly.",
        "tool.py": 'def max_connections():\n    """Set the limit."""\n',
        "d.json": '{"note": "written words"}',
        "manual.pdf": pdf(PAGE),
        "handbook.docx": docx(paragraph("How to open a valve", "heading 1")),
        "empty.txt": "",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "bomb.docx": docx(paragraph("words"), **{"word/media/a.bin": bytes(300_000_000)}),
        "huge.pdf": pdf(PAGE, objects={11: f"<</Length 0{ROW}>>stream\n\nendstream".encode()}),
        "torn.pdf": pdf(PAGE)[:200],
        "foundry/rows.jsonl": '{"id": "1", "title": "One", "text": "First row", "tags": ["x"]}\n',
    }


def build(project: Project) -> dict[str, Any]:
    done = foundry("build", project.root, "--quiet", "--json", begin=begin_foundry())
    return answer_of(done)


def build_on(cluster: RunningCluster, project: Project) -> dict[str, Any]:
    options = ("--engine", "ray", "--ray-address", cluster.address)
    done = foundry(
        *("build", project.root, "--quiet", "--json", *options),
        variables=cluster.variables,
        begin=cluster.foundry,
    )
    return answer_of(done)


def answer_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def begin(cluster: RunningCluster, project: Project, *arguments: str) -> "subprocess.Popen[str]":
    command = [*cluster.foundry, "build", str(project.root), "--quiet", "--json"]
    return subprocess.Popen(
        [*command, "--engine", "ray", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **cluster.variables},
    )


def prepared(project: Project) -> int:
    """Return how many documents the cache has stored."""
    cache = project.root / ".foundry" / CACHE_NAME
    if not cache.exists():
        return 0
    opened = sqlite3.connect(f"file:{cache}?mode=ro", timeout=SECONDS, uri=True)
    with closing(opened) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables:
            return 0
        query = "SELECT count(*) FROM entries WHERE CAST(key AS TEXT) LIKE 'result%'"
        return int(connection.execute(query).fetchone()[0])


def wait_until_some(project: Project, process: "subprocess.Popen[str]") -> int:
    """Wait until the cache has documents of a running build; returns how many."""
    count = 0

    def are_some_kept() -> bool:
        nonlocal count
        count = prepared(project)
        return count > 0 or process.poll() is not None

    wait_until(are_some_kept, SECONDS)
    assert process.poll() is None, process.communicate()
    return count


SLOW = "sources/many/slow.rst"


def many(count: int) -> Mapping[str, str]:
    """Documents that each take a worker some hundredths of a second."""
    return {
        f"sources/many/{number:04}.md": f"# Note {number}\n\n"
        + "\n\n".join(" ".join(f"word{number + i + j}" for i in range(120)) for j in range(40))
        for number in range(count)
    }


def test_missing_ray_is_named(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    project = make_project({"a.md": "# Words"})
    result = project.run("build", "--engine", "ray")
    assert result.exit_code == 1
    assert "--engine ray needs ray, which is not installed" in result.output
    assert "pip install 'rag-foundry[ray]'" in result.output
    project.succeed("build", "--quiet")


def test_invalid_options_are_refused(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        pytest.raises(RequestError, match="ray-address"),
        closing_engine(BuildOptions(ray_address="auto")),
    ):
        pass
    project = make_project({"a.md": "# Words"})
    result = project.run("build", "--ray-address", "127.0.0.1:6379")
    assert (result.exit_code, "--engine ray" in result.output) == (2, True)
    assert project.run("build", "--engine", "dask").exit_code == 2
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    result = project.run("build", "--engine", "ray")
    assert (result.exit_code, "no cluster address is given" in result.output) == (2, True)


def test_help_names_the_engines() -> None:
    said = CliRunner().invoke(main, ["build", "--help"]).output
    assert "[local|ray]" in said
    assert "--ray-address HOST:PORT" in said


def test_missing_cluster_is_an_error(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Words"})
    address = f"127.0.0.1:{free_port()}"
    for given in (address, "ray://127.0.0.1:10001", "nonsense", "127.0.0.1:99999999"):
        result = project.run("build", "--engine", "ray", "--ray-address", given)
        assert result.exit_code == 1
        assert given in result.output
        assert "hint: give HOST:PORT" in result.output


def test_node_with_another_installation_is_named() -> None:
    own = installation()
    assert check_installation([b"answer"]) == [b"answer"]
    with pytest.raises(BuildError, match="it has different code under the same version") as caught:
        check_installation(own)
    assert caught.value.hint == (
        "install the same Foundry, Python and libraries on every node, and build again"
    )
    with pytest.raises(BuildError) as caught:
        check_installation({**own, "Python": "3.99.0", "numpy": "1.0"})
    assert f"Python 3.99.0 (here {own['Python']})" in caught.value.message
    assert f"numpy 1.0 (here {own['numpy']})" in caught.value.message
    assert "Foundry" not in caught.value.message


class Here:
    """An in-process cluster that runs a task when its result is requested."""

    def __init__(self) -> None:
        self.most = 0
        self._waiting: dict[int, tuple[Callable[..., object], tuple[object, ...]]] = {}

    def submit(
        self, function: Callable[..., object], *arguments: object, **_processors: int
    ) -> int:
        self._waiting[number := len(self._waiting) + self.most * 1000] = (function, arguments)
        self.most = max(self.most, len(self._waiting))
        return number

    def wait(self, references: Sequence[int], *, at_once: bool = False) -> list[int]:
        return [] if at_once else [references[-1]]

    def get(self, reference: int) -> object:
        function, arguments = self._waiting.pop(reference)
        return function(*arguments)

    def slots(self) -> int:
        return 1

    def least_processors(self) -> int:
        return 1


def test_batches_are_few_and_small(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("english", chunking("headings", 1200, 0), DEFAULT_FIELDS, 0)
    raws = [RawDocument("s", f"{n}.md", f"{n}.md", b"# Pump %d\n\nWords." % n) for n in range(100)]
    raws[7] = RawDocument("s", "7.md", "7.md", b"word " * 120_000)
    raws[8] = RawDocument("s", "8.pdf", "8.pdf", pdf(PAGE)[:200])
    # Results of two documents fill a batch; the others are sent again.
    monkeypatch.setattr(tasks, "ANSWER_BYTES", 800)
    cluster = Here()
    pool = RayPool(cluster, recipe)  # type: ignore[arg-type]
    made = dict[int, Made]()
    for (place, raw), result in pool.prepare(enumerate(raws)):
        assert place not in made
        assert raw is raws[place]
        made[place] = result
    assert sorted(made) == list(range(100))
    assert cluster.most <= BATCHES_AHEAD + 1
    preparer = Preparer(recipe, is_worker=True)
    for place in (0, 7, 8, 99):
        assert made[place].content == encode_result(raws[place], preparer.prepare(raws[place]))


def test_node_without_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    # A service replaces the builder's own copy of the model, which is never asked for vectors.
    service = EmbeddingSection(provider="openai", model="m", base_url="http://127.0.0.1:1/v1")
    opened = open_model(service)
    options = EmbeddingSection(provider="fastembed", model="some/model")
    model = place_on_nodes(opened, options, Here())  # type: ignore[arg-type]
    assert model.limits == replace(opened.limits, calls=CONCURRENT_CALLS)
    with pytest.raises(EmbeddingFailure, match="fastembed") as caught:
        model.embed(["words"], "document")
    assert caught.value.hint == "pip install 'rag-foundry[fastembed]'"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    with ray_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.mark.slow
def test_transformer_embeds_on_nodes_as_locally(
    make_project: MakeProject, cluster: RunningCluster
) -> None:
    project = make_project(
        {f"{number}.md": f"# Roof {number}\n\nFresh air passes it.\n" for number in range(12)},
        config=f'{CONFIG}[embedding]\nprovider = "transformer"\nmodel = "bge"\nquery = "same"\n',
    )
    write_transformer(project.root / "bge", "bge")
    cluster.have_nodes(1)
    there = build_on(cluster, project)
    on_nodes = snapshot(Path(there["index"]))
    shutil.rmtree(project.root / ".foundry")
    here = build(project)
    assert there["changes"]["embedded"] == here["changes"]["embedded"] == here["chunks"] == 12
    assert snapshot(Path(here["index"])) == on_nodes


@pytest.mark.slow
def test_interrupted_build_is_continued(make_project: MakeProject, cluster: RunningCluster) -> None:
    # The last document keeps the build running until it is interrupted.
    project = make_project({**many(40), SLOW: slow_rst(60_000)})
    cluster.have_nodes(1)
    process = begin(cluster, project, "--jobs", "1")
    wait_until_some(project, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, said
    (project.root / SLOW).write_text("Read at once.", encoding="utf-8")
    done = prepared(project)
    assert 0 < done <= 40
    changes = build(project)["changes"]
    # The interrupt may have come after a result was stored, and before its document was.
    assert changes["reused"] in (done - 1, done)
    assert changes["read"] == 41 - changes["reused"]


@pytest.mark.slow
def test_killed_node_loses_no_document(make_project: MakeProject, cluster: RunningCluster) -> None:
    files = {**mixed_files(), **many(40), SLOW: slow_rst(5_000)}
    project = make_project(files, config=CONFIG + TABLE)
    local = make_project(files, config=CONFIG + TABLE, name="local")
    count = build(local)["changes"]["read"]
    cluster.have_nodes(2)
    process = begin(cluster, project)
    before = wait_until_some(project, process)
    killed = cluster.kill_node()
    assert killed
    printed, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    result = json.loads(printed)
    assert before <= result["changes"]["read"] == count
    assert snapshot(project.index) == snapshot(local.index)
    wait_until(lambda: not any(is_worker(worker) for worker in killed))
    # The second node continues where a build on this machine ended.
    (local.root / "sources" / "new.md").write_text("# New\n\nWords.")
    result = build_on(cluster, local)
    assert (result["changes"]["read"], result["changes"]["reused"]) == (1, count)


@pytest.mark.slow
def test_another_foundry_version_on_a_node_is_an_error(
    make_project: MakeProject, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(Path(package.__file__).parent, other / "foundry")
    (other / "foundry" / "__init__.py").write_text('"""Other."""\n\n__version__ = "0.0.1"\n')
    with (other / "foundry" / "chunking" / "packing.py").open("a") as module:
        module.write("# Packs otherwise.\n")
    project = make_project({"a.md": "# Words"})
    with ray_cluster(tmp_path, {"PYTHONPATH": str(other)}) as cluster:
        cluster.have_nodes(1)
        process = begin(cluster, project)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert f"Foundry 0.0.1 (here {package.__version__})" in said
    assert "install the same Foundry" in said
    build(project)


@pytest.mark.slow
def test_interpreter_that_ray_cannot_start_is_an_error(
    make_project: MakeProject, cluster: RunningCluster, tmp_path: Path
) -> None:
    project = make_project({"a.md": "# Words"})
    cluster.have_nodes(1)
    environment = tmp_path / "My environment"
    environment.symlink_to(sys.prefix)
    python = str(environment / "bin" / "python")
    done = foundry(
        *("build", project.root, "--engine", "ray"),
        variables=cluster.variables,
        begin=[python, "-m", "foundry"],
    )
    assert done.returncode == 1
    assert f"{python}: Ray starts no tasks if the path has spaces" in done.stderr
    assert "hint: install Foundry into an environment whose path has none" in done.stderr
