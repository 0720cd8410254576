"""The commands eval and questions: parse, call the pipeline, print."""

from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from foundry import pipeline
from foundry.cli.options import flag, json_option, print_json, project_argument, quiet_option, warn
from foundry.errors import FoundryError
from foundry.evaluation.options import TOLERANCE, EvaluationOptions
from foundry.progress import Reporter
from foundry.terminal import count_of

_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("eval", short_help="Measure search quality with your own questions.")
@project_argument
@click.option("--questions", type=_file, help="A file of questions.  [default: questions.jsonl]")
@click.option("--queries", type=_file, help="Queries in BEIR's format; needs --qrels.")
@click.option(
    "--qrels", "judgements", type=_file, help="Judgements in BEIR's format; needs --queries."
)
@click.option(
    "--min",
    "minimums",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Fail if the mean is lower; may be repeated.",
)
@click.option(
    "--baseline", type=_file, help="Fail if results are worse than in an earlier --json output."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=TOLERANCE,
    show_default=True,
    help="How much worse than the baseline is acceptable.",
)
@flag("--tune", "Search for better options, with cross-validation.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The HTML page to write.  [default: PROJECT_DIR/.foundry/eval.html]",
)
@click.option(
    "--draft",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Only write draft questions, made from headings, for you to edit.",
)
@json_option
@quiet_option
@click.pass_context
def evaluate(
    context: click.Context,
    /,
    project: Path,
    draft: Path | None,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Ask questions whose answers are known, and measure the results.

    Without questions, known-item queries are made from the index: headings, identifiers and rare
    words. Such queries show that search works, but not how well it answers real questions.
    """
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is ParameterSource.COMMANDLINE}
    if draft is not None:
        if given - {"project", "draft", "quiet"}:
            raise click.UsageError("--draft only writes questions; give it without other options")
        count = pipeline.draft_questions(project, draft)
        click.echo(
            f"{draft} written: {count_of(count, 'heading')}, each with its document. Rephrase them"
            " as people would ask, correct the relevant documents, and delete questions that nobody"
            f" would ask; then: foundry eval {quote(str(project))} --questions {quote(str(draft))}"
        )
        return
    options = EvaluationOptions(**chosen)
    is_half = (options.queries is None) != (options.judgements is None)
    if is_half or (options.queries and options.questions):
        raise click.UsageError("give --questions, or --queries and --qrels together")
    if "tolerance" in given and options.baseline is None:
        raise click.UsageError("--tolerance does nothing without --baseline")
    result = pipeline.evaluate(project, options, Reporter(quiet=quiet), warn)
    if as_json:
        print_json(result.to_json())
    else:
        click.echo(result.describe())
    if result.failures:
        hint = f"the report shows the worst questions and their results: {result.report}"
        raise FoundryError("\n  ".join(["the evaluation fails:", *result.failures]), hint=hint)


@click.command(
    "questions", short_help="Draft test questions from those that users asked without success."
)
@project_argument
@click.option(
    "--log",
    "logs",
    type=_file,
    multiple=True,
    required=True,
    help="A log that a server wrote to QUESTION_LOG; may be repeated.",
)
@click.option(
    "--draft",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A new file to write the questions to, for you to edit.",
)
@json_option
def questions(project: Path, logs: tuple[Path, ...], draft: Path | None, as_json: bool) -> None:
    """List the questions in a server's log, those asked most often first.

    Servers log questions without a strong match, and thumbs. Different spellings of a question are
    counted together. Questions in questions.jsonl are left out. A draft names documents with a
    thumbs-up as relevant; add the others yourself.
    """
    found = pipeline.collect_questions(project, logs, draft)
    if found.bad:
        warn(found.describe_bad(), "each line must be one that a server wrote to QUESTION_LOG")
    if as_json:
        print_json(found.to_json())
        return
    click.echo(found.describe())
    if draft is not None:
        empty = sum(not question.relevant for question in found.questions)
        click.echo(
            f"{draft} written, with {count_of(empty, 'question')} without a relevant document: name"
            " one by path, or delete the line;"
            f" then: foundry eval {quote(str(project))} --questions {quote(str(draft))}"
        )
