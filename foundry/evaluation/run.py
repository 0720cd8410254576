"""The steps of an evaluation: choosing questions, querying servers, judging the results."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from foundry.config.project import Config
from foundry.config.sources import QUESTIONS_NAME
from foundry.errors import FoundryError
from foundry.evaluation.asking import ask, render_servers, render_variant
from foundry.evaluation.known_items import make_known_items
from foundry.evaluation.limits import Comparison, compare, read_baseline
from foundry.evaluation.options import EvaluationOptions
from foundry.evaluation.questions import read_beir, read_questions
from foundry.evaluation.report import write_report
from foundry.evaluation.results import CONFIGURED, HEADLINE, Evaluation, Report
from foundry.evaluation.tuning import Candidate, Tuning, tune, vary_stages
from foundry.files import CONFIG_NAME
from foundry.indexing.versions import open_index
from foundry.progress import Reporter
from foundry.rendering.design import Design
from foundry.runtime.evaluation.metrics import find_shortfalls, parse_minimum
from foundry.runtime.evaluation.questions import QuestionSet

FINE_SWEEP = tuple(step / 20 for step in range(21))
"""Semantic weights to try; keywords get the rest."""


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The outcome of an evaluation; `failures` are metrics below a minimum or a baseline."""

    evaluation: Evaluation
    tuning: Tuning | None
    comparison: Comparison | None
    failures: tuple[str, ...]
    report: Path
    project: Path

    def describe(self) -> str:
        """Return everything for people."""
        parts = [self.evaluation.describe()]
        if self.evaluation.kind == "known-item":
            parts.insert(0, _advise(self.project))
        if self.comparison is not None:
            parts.append("\n".join(["since the baseline:", *self.comparison.lines]))
        if self.tuning is not None:
            parts.append(self.tuning.describe(self.project / CONFIG_NAME))
        return "\n\n".join([*parts, f"report: {self.report}"])

    def to_json(self) -> dict[str, Any]:
        """Return everything except the report's path.

        Apart from times, equal answers give equal values.
        """
        values = self.evaluation.to_json()
        values["failures"] = list(self.failures)
        if self.comparison is not None:
            values["baseline"] = list(self.comparison.lines)
        if self.tuning is not None:
            values["tuning"] = self.tuning.to_json()
        return values


def evaluate_server(
    design: Design,
    index: Path,
    options: EvaluationOptions,
    reporter: Reporter,
) -> EvaluationResult:
    """Query the configured server, and servers with other fusions; write the report.

    Values below a minimum or the baseline do not raise an error. Raises FoundryError if questions
    or servers are unusable.
    """
    config = design.config
    minimums = [parse_minimum(written) for written in options.minimums]
    former = None if options.baseline is None else read_baseline(options.baseline)
    if options.tune and design.query_encoder.kind == "none":
        raise FoundryError(
            "there is nothing to tune: the server searches by keywords only",
            hint="set embedding.provider in foundry.toml and build again",
        )
    asked = _choose_questions(config, index, options)
    reports, variants = _ask_all(design, index, asked, options, reporter)
    evaluation = _collect(config, reports, asked)
    tuning = _tune(config, evaluation, reports, variants) if options.tune else None
    comparison = None if former is None else compare(former, evaluation, options.tolerance)
    failures = find_shortfalls(minimums, evaluation.means()[CONFIGURED])
    failures += comparison.failures if comparison else ()
    file = options.report or config.state / "eval.html"
    write_report(file, config.title, evaluation, tuning)
    return EvaluationResult(evaluation, tuning, comparison, tuple(failures), file, config.root)


def _advise(project: Path) -> str:
    """Return advice on writing questions, which are more informative than generated ones."""
    command = f"foundry eval {quote(str(project))}"
    file = quote(str(project / QUESTIONS_NAME))
    return (
        "These figures are for queries made from the index itself: they show that search works,\n"
        "but not how well it answers people's questions. Ten real questions show more:\n"
        f"  1. {command} --draft {file}\n"
        "     writes a line for each heading, with its document\n"
        "  2. rephrase ten of them as people would ask, and delete the others\n"
        f"  3. {command}"
    )


def own_questions(config: Config) -> Path | None:
    """Return the project's file of questions, or None if it does not exist."""
    file = config.root / QUESTIONS_NAME
    return file if os.path.lexists(file) else None


def _choose_questions(config: Config, index: Path, options: EvaluationOptions) -> QuestionSet:
    if options.queries is not None and options.judgements is not None:
        return read_beir(options.queries, options.judgements)
    if options.questions is not None:
        return read_questions(options.questions)
    if (file := own_questions(config)) is not None:
        return read_questions(file, inside=config.root)
    return make_known_items(open_index(index))


def _ask_all(
    design: Design,
    index: Path,
    asked: QuestionSet,
    options: EvaluationOptions,
    reporter: Reporter,
) -> tuple[dict[str, Report], list[Candidate]]:
    servers = render_servers(design)
    variants = list(vary_stages(design.config)) if options.tune else []
    has_weights = design.query_encoder.kind != "none"
    reports: dict[str, Report] = {}
    candidates: list[Candidate] = []
    sweep = FINE_SWEEP if options.tune else ()
    weights = {
        name: sweep or (options.weights if name == CONFIGURED and has_weights else ())
        for name in servers
    }
    count = len(asked.questions)
    total = sum(each.count_searches(count, len(weights[name])) for name, each in servers.items())
    total += 2 * count * len(variants)
    with reporter.step("Evaluating", "searches", total) as progress:
        for name, server in servers.items():
            reports[name] = ask(server, index, asked, weights[name], progress.advance)
        for changed, variant in variants:
            server = render_variant(design.varied(variant))
            report = ask(server, index, asked, advance=progress.advance)
            candidates.append(Candidate(changed, report.systems["hybrid"][HEADLINE]))
    return reports, candidates


def _collect(config: Config, reports: Mapping[str, Report], asked: QuestionSet) -> Evaluation:
    own = reports[CONFIGURED]
    found = {mode: (own, mode) for mode in own.latency_ms}
    systems = {CONFIGURED: found.pop(CONFIGURED)}
    if len(reports) > 1:
        systems[config.search.fusion] = systems[CONFIGURED]
        systems |= {name: (reports[name], "hybrid") for name in reports if name != CONFIGURED}
    systems |= found
    return Evaluation(
        facts={**own.facts, "skipped": dict(asked.skipped), "unjudged": asked.unjudged},
        configured={
            "fusion": config.search.fusion,
            **dict(zip(("semantic_weight", "keyword_weight"), config.weights, strict=True)),
        },
        systems={name: report.systems[mode] for name, (report, mode) in systems.items()},
        latency_ms={name: report.latency_ms[mode] for name, (report, mode) in systems.items()},
        degraded={name: report.degraded[mode] for name, (report, mode) in systems.items()},
        questions=own.questions,
        sweep=own.sweep,
    )


def _tune(
    config: Config,
    evaluation: Evaluation,
    reports: Mapping[str, Report],
    variants: Sequence[Candidate],
) -> Tuning:
    configured = Candidate(evaluation.configured, evaluation.systems[CONFIGURED][HEADLINE])
    share = config.weights[0] / sum(config.weights)
    candidates: list[Candidate] = []
    for name, report in reports.items():
        fusion = config.search.fusion if name == CONFIGURED else name
        for weight, values in sorted(report.sweep.items(), key=lambda entry: abs(entry[0] - share)):
            options = {
                "fusion": fusion,
                "semantic_weight": weight,
                "keyword_weight": round(1 - weight, 6),
            }
            candidates.append(Candidate(options, values[HEADLINE]))
    found = tune(configured, [*candidates, *variants])
    if found is None:
        raise FoundryError(
            "there are too few questions for tuning",
            hint="use at least 10; a hundred are informative",
        )
    return found
