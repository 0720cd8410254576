"""Renders servers and asks them in interpreters of their own: what is evaluated is what ships."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import foundry
from foundry.config.project import Config
from foundry.config.search import DEFAULT_WEIGHTS
from foundry.errors import FoundryError
from foundry.evaluation.questions import QuestionSet
from foundry.evaluation.results import CONFIGURED
from foundry.rendering.preview import render_preview
from foundry.rendering.query_encoder import QueryEncoder
from foundry.rendering.running import model_variables, run_python

Report = Mapping[str, Any]
"""See `in_server.ask_server`."""

_RECORDED = ("corpus", "metrics", "questions", "questions_sha256")

_ASK = (
    "import sys; sys.path.append({foundry!r});"
    " from foundry.evaluation.in_server import main; main()"
)
"""Foundry's folder comes last, since other things may lie beside it."""


@dataclass(frozen=True, slots=True)
class Server:
    """A rendered server, and the modes in which it is asked; none for all that it has."""

    config: Config
    folder: Path
    modes: tuple[str, ...] = ()


def render_servers(config: Config, query_encoder: QueryEncoder) -> dict[str, Server]:
    """Return the configured server under `hybrid`, and those of other fusions under the fusion's
    name."""
    servers = {CONFIGURED: Server(config, render_preview(config, query_encoder))}
    if query_encoder.kind == "none":
        return servers
    fusions: tuple[Literal["linear", "rrf"], ...] = ("linear", "rrf")
    for fusion in fusions:
        if fusion != config.search.fusion:
            semantic, keyword = DEFAULT_WEIGHTS[fusion]
            changed = {"fusion": fusion, "semantic_weight": semantic, "keyword_weight": keyword}
            other = replace(config, search=config.search.model_copy(update=changed))
            folder = render_preview(other, query_encoder, f"server-{fusion}")
            servers[fusion] = Server(other, folder, ("hybrid",))
    return servers


def render_variant(config: Config, query_encoder: QueryEncoder) -> Server:
    """A server of other options, in place of the variant before."""
    return Server(config, render_preview(config, query_encoder, "server-variant"), ("hybrid",))


def ask(
    server: Server,
    index_folder: Path,
    asked: QuestionSet,
    weights: Iterable[float] = (),
    *,
    with_model: bool = True,
) -> Report:
    """Ask a server questions; also with other semantic weights.

    `with_model` lets it ask the language model that the environment names, if it has a use for it.
    """
    config = server.config
    semantic_weight, keyword_weight = config.weights
    job = {
        "package": config.package,
        "kind": asked.kind,
        "questions": [(question.query, question.relevant) for question in asked.questions],
        "modes": server.modes,
        "weights": tuple(weights),
    }
    # What foundry.toml says is measured, whatever the environment of this process says.
    variables = {
        "INDEX_DIR": str(index_folder),
        "SEMANTIC_WEIGHT": str(semantic_weight),
        "KEYWORD_WEIGHT": str(keyword_weight),
        **(model_variables() if with_model else {}),
    }
    code = _ASK.format(foundry=str(Path(foundry.__file__).parents[1]))
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "job.json")
        file.write_text(json.dumps(job), encoding="utf-8")
        done = run_python(
            server.folder / config.package, code, [str(file)], variables=variables, time_limit=None
        )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip() or f"the server exited with {done.returncode}"
        raise FoundryError(f"the questions could not be asked: {said}") from None
    assert isinstance(report, dict)
    return report


def record_figures(
    config: Config,
    query_encoder: QueryEncoder,
    files: Mapping[str, bytes],
    index: Path,
    asked: QuestionSet,
) -> bytes:
    """Return what the questions come to in a planned server, to travel with its export.

    Where the server asks a model or a service for vectors of queries, which may be another one or
    out of reach tomorrow, only the keyword lane is measured, and no language model reads queries.
    """
    modes = ("keyword",) if query_encoder.kind in {"model", "service"} else ()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        report = ask(Server(config, folder, modes), index, asked, with_model=False)
    figures = {name: report[name] for name in _RECORDED}
    return json.dumps(figures, indent=2, sort_keys=True).encode() + b"\n"
