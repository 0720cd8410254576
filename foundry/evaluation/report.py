"""The report: one HTML file that needs nothing else, neither scripts nor the network."""

import tempfile
from pathlib import Path

import jinja2

from foundry.errors import FoundryError
from foundry.evaluation.charts import (
    BAR_WIDTH,
    CURVE_WIDTH,
    HEIGHT,
    chart_metrics,
    chart_scores,
    chart_sweep,
    configured_share,
    worst_questions,
)
from foundry.evaluation.metrics import METRICS
from foundry.evaluation.results import CONFIGURED, Evaluation
from foundry.evaluation.summary import HEADLINE, count_questions, describe_notes
from foundry.evaluation.tuning import Tuning

WORST_QUESTIONS = 25
"""Questions that are shown with what was found for them."""


def write_report(file: Path, title: str, evaluation: Evaluation, tuning: Tuning | None) -> None:
    """Write the report in place of the one before. Raises FoundryError."""
    content = render_report(title, evaluation, tuning).encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as stream:
            stream.write(content)
        Path(stream.name).chmod(0o644)
        Path(stream.name).replace(file)
    except OSError as error:
        raise FoundryError(
            f"{file}: cannot be written: {error.strerror or error}",
            hint="name another file with --report",
        ) from None


def render_report(title: str, evaluation: Evaluation, tuning: Tuning | None) -> str:
    """Return the report as HTML; every text in it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = evaluation.systems[CONFIGURED]
    worst = [
        {
            **evaluation.questions[place],
            "value": float(own[HEADLINE][place]),
            "found": {hit["document_id"] for hit in evaluation.questions[place]["hits"]},
        }
        for place in worst_questions(evaluation, HEADLINE, WORST_QUESTIONS)
    ]
    return environment.get_template("report.html.jinja").render(
        title=title,
        counted=count_questions(evaluation),
        facts=evaluation.facts,
        notes=describe_notes(evaluation),
        metrics=list(METRICS),
        intervals=evaluation.intervals,
        latency=evaluation.latency_ms,
        headline=HEADLINE,
        bars=chart_metrics(evaluation),
        sweep=chart_sweep(evaluation.sweep, configured_share(evaluation)),
        scores=chart_scores(evaluation),
        worst=worst,
        tuning=tuning.describe() if tuning else None,
        height=HEIGHT,
        bar_width=BAR_WIDTH,
        curve_width=CURVE_WIDTH,
    )
