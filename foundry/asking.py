"""Rendered servers, asked by their own command `eval`: what is evaluated is what ships."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from foundry.config import Config
from foundry.config_search import DEFAULT_WEIGHTS
from foundry.errors import FoundryError
from foundry.evaluation.results import CONFIGURED
from foundry.exporting.running import model_variables, run_server
from foundry.rendering.preview import render_preview
from foundry.rendering.query_encoder import QueryEncoder
from foundry.runtime.evaluation.figures import Figures

Report = Mapping[str, Any]
"""What a server's `eval --json` prints."""


@dataclass(frozen=True, slots=True)
class Server:
    """A rendered server, and the modes in which it is asked; none for all that it has."""

    config: Config
    folder: Path
    modes: tuple[str, ...] = ()


def render_servers(config: Config, query_encoder: QueryEncoder) -> dict[str, Server]:
    """The configured server under `hybrid`, and those of other fusions under the fusion's name."""
    servers = {CONFIGURED: Server(config, render_preview(config, query_encoder))}
    if query_encoder.kind == "none":
        return servers
    fusions: tuple[Literal["linear", "rrf"], ...] = ("linear", "rrf")
    for fusion in fusions:
        if fusion != config.fusion:
            semantic, keyword = DEFAULT_WEIGHTS[fusion]
            other = replace(config, fusion=fusion, semantic_weight=semantic, keyword_weight=keyword)
            folder = render_preview(other, query_encoder, f"server-{fusion}")
            servers[fusion] = Server(other, folder, ("hybrid",))
    return servers


def render_variant(config: Config, query_encoder: QueryEncoder) -> Server:
    """A server of other options, in place of the variant before."""
    return Server(config, render_preview(config, query_encoder, "server-variant"), ("hybrid",))


def ask(
    server: Server,
    index_folder: Path,
    questions: Path | None,
    weights: Iterable[float] = (),
    *,
    with_model: bool = True,
) -> Report:
    """Ask a server questions, its own if no file is given; also with other semantic weights.

    `with_model` lets it ask the language model that the environment names, if it has a use for it.
    """
    config = server.config
    arguments = ["eval", "--json"]
    if questions is not None:
        arguments += ["--questions", str(questions)]
    for mode in server.modes:
        arguments += ["--mode", mode]
    for weight in weights:
        arguments += ["--semantic-weight", str(weight)]
    # What foundry.toml says is measured, whatever the environment of this process says.
    variables = {
        "SEMANTIC_WEIGHT": str(config.semantic_weight),
        "KEYWORD_WEIGHT": str(config.keyword_weight),
        **(model_variables() if with_model else {}),
    }
    done = run_server(
        server.folder,
        config.package,
        arguments,
        index_dir=index_folder,
        variables=variables,
        time_limit=None,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip() or f"the server exited with {done.returncode}"
        raise FoundryError(f"the questions could not be asked: {said}") from None
    assert isinstance(report, dict)
    return report


def record_figures(
    config: Config, query_encoder: QueryEncoder, files: Mapping[str, bytes], index: Path
) -> bytes:
    """What the questions come to in a planned server, to travel with its export.

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
        report = ask(Server(config, folder, modes), index, None, with_model=False)
    return Figures(
        corpus=report["corpus"],
        questions_sha256=report["questions_sha256"],
        questions=report["questions"],
        metrics=report["metrics"],
    ).to_bytes()
