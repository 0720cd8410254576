"""Runs and queries servers in separate interpreters, to evaluate the shipped code."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import foundry
from foundry.config.project import Config
from foundry.config.search import DEFAULT_WEIGHTS
from foundry.errors import FoundryError
from foundry.evaluation.in_server import MODES
from foundry.evaluation.results import CONFIGURED, Report
from foundry.files import write_files
from foundry.rendering.design import Design
from foundry.runtime.evaluation.metrics import METRICS, measure
from foundry.runtime.evaluation.questions import QuestionSet, hash_questions
from foundry.serving.preview import render_preview
from foundry.serving.running import explain_exit, follow_python, model_variables, run_server

_RECORDED = ("index_version", "metrics", "questions", "questions_sha256")

_ASK = (
    "import sys; sys.path.append({foundry!r});"
    " from foundry.evaluation.in_server import main; main()"
)
"""Foundry's folder comes last, since it may be inside a folder of other packages."""


@dataclass(frozen=True, slots=True)
class Server:
    """A rendered server, and the modes in which it is queried; empty for all modes."""

    config: Config
    folder: Path
    modes: tuple[str, ...] = ()

    def count_searches(self, questions: int, weights: int = 0) -> int:
        """Return how many searches `ask` makes: in each mode twice, and once for each weight."""
        has_modes = self.config.embedding.provider != "none"
        modes = len(self.modes or MODES) if has_modes else 1
        return questions * (2 * modes + weights)


def render_servers(design: Design) -> dict[str, Server]:
    """Return the configured server as `hybrid`, and servers with other fusions by name."""
    config = design.config
    servers = {CONFIGURED: Server(config, render_preview(design))}
    if design.query_encoder.kind == "none":
        return servers
    fusions: tuple[Literal["linear", "rrf"], ...] = ("linear", "rrf")
    for fusion in fusions:
        if fusion != config.search.fusion:
            semantic, keyword = DEFAULT_WEIGHTS[fusion]
            changed = {"fusion": fusion, "semantic_weight": semantic, "keyword_weight": keyword}
            other = config.model_copy(update={"search": config.search.model_copy(update=changed)})
            folder = render_preview(design.varied(other), f"server-{fusion}")
            servers[fusion] = Server(other, folder, ("hybrid",))
    return servers


def render_variant(design: Design) -> Server:
    """Render a server with other options, replacing the previous variant."""
    return Server(design.config, render_preview(design, "server-variant"), ("hybrid",))


def ask(
    server: Server,
    index_folder: Path,
    asked: QuestionSet,
    weights: Sequence[float] = (),
    advance: Callable[[int], object] = lambda _: None,
) -> Report:
    """Ask a server the questions in each of its modes, and with other semantic weights.

    `advance` is called with the number of searches made since its last call.
    The server may call the language model that the environment names, if it uses one. Raises
    FoundryError if it cannot answer.
    """
    config = server.config
    job = {
        "package": config.package,
        "questions": [(question.query, question.relevant) for question in asked.questions],
        "modes": server.modes,
        "weights": weights,
    }
    variables = {
        "INDEX_DIR": str(index_folder),
        **_weight_variables(config),
        **model_variables(),
    }
    code = _ASK.format(foundry=str(Path(foundry.__file__).parents[1]))
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "job.json")
        file.write_text(json.dumps(job), encoding="utf-8")
        done = follow_python(
            server.folder / config.package,
            code,
            [str(file)],
            lambda line: advance(int(line)) if line.strip().isdigit() else None,
            variables=variables,
        )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip() or f"the server exited with {done.returncode}"
        raise FoundryError(f"the server could not answer the questions: {said}") from None
    return _judge(asked, found, weights)


def _judge(asked: QuestionSet, found: Mapping[str, Any], weights: Sequence[float]) -> Report:
    relevant = [question["relevant"] for question in found["per_question"]]
    values = {}
    for run, rankings in found["runs"].items():
        rows = [measure(ranked, grades) for ranked, grades in zip(rankings, relevant, strict=True)]
        values[run] = {name: np.array([row[name] for row in rows]) for name in METRICS}
    return Report(
        facts={
            "kind": asked.kind,
            "questions": len(asked.questions),
            "documents": found["documents"],
            "chunks": found["chunks"],
            "corpus": found["corpus"],
            "questions_sha256": hash_questions(asked.questions),
            "index_version": found["index_version"],
            "missing": found["missing"],
        },
        systems={mode: values[mode] for mode in found["milliseconds"]},
        sweep={weight: values[f"hybrid {weight:g}"] for weight in weights},
        latency_ms={mode: _percentiles(times) for mode, times in found["milliseconds"].items()},
        degraded={mode: sum(answers) for mode, answers in found["degraded"].items()},
        questions=found["per_question"],
    )


def _percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    median, p95 = np.percentile(milliseconds, [50, 95])
    return {"median": round(float(median), 3), "p95": round(float(p95), 3)}


def record_figures(design: Design, files: Mapping[str, bytes], index: Path) -> bytes:
    """Return the figures that `eval` measures in a planned server, as JSON to export with it.

    If the server gets query vectors from a model or a service, only the keyword lane is measured,
    since the model may change or be unreachable later. No language model is called. Raises
    FoundryError if `eval` fails.
    """
    config = design.config
    modes = ("--mode", "keyword") if design.query_encoder.kind in {"model", "service"} else ()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_files(folder, files)
        done = run_server(
            folder,
            config.package,
            ["eval", "--json", *modes],
            variables={"INDEX_DIR": str(index), **_weight_variables(config)},
            time_limit=None,
        )
    if done.returncode:
        raise explain_exit(config.project.name, done.returncode, done.stderr)
    report = json.loads(done.stdout)
    figures = {name: report[name] for name in _RECORDED}
    return json.dumps(figures, indent=2, sort_keys=True).encode() + b"\n"


def _weight_variables(config: Config) -> dict[str, str]:
    """Return the weights of foundry.toml, which override the environment."""
    semantic, keyword = config.weights
    return {"SEMANTIC_WEIGHT": str(semantic), "KEYWORD_WEIGHT": str(keyword)}
