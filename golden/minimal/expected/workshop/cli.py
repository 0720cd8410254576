"""The command line: the parser, the commands `serve` and `verify`, and the exit codes."""

import argparse
import io
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import ConfigurationError, InvalidRequestError, ServerError
from .json_text import format_json
from .output import write_message, write_output

if TYPE_CHECKING:
    from .retrieval.results import SearchResponse

GRACE_SECONDS, MAX_GRACE_SECONDS = 30.0, 3600

EXIT_CODES = """\
exit codes:
  0    done
  1    failure: index unusable, port in use, a failed check
  2    invalid arguments, settings or environment variables
  130  interrupted"""

Search = Callable[..., "SearchResponse"]
Serve = Callable[[argparse.Namespace], None]
Answer = tuple[object, str, int]  # A command's JSON, text and exit code
AddCommand = Callable[[Any], None]
"""Adds a command to subparsers, with its function as the default of `serve` or `answer`."""


def run(
    name: str,
    version: str,
    load_search: Callable[[], Search],
    serve: Serve,
    *,
    more: Iterable[AddCommand] = (),
) -> int:
    """Run a command and return its exit code; the only place that prints errors.

    An unexpected exception is raised again, unless a damaged index explains it.
    """
    try:
        chosen = _parser(name, version, serve, more).parse_args()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        if "serve" in chosen:
            chosen.serve(chosen)
            return 0
        value, text, code = chosen.answer(chosen, load_search())
        write_output((format_json(value) if chosen.json else text) + "\n")
        return int(code)
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except ServerError as error:
        hint = f"  {error.hint}\n" if error.hint else ""
        write_message(f"{name}: {error.message}\n{hint}")
        return 2 if isinstance(error, ConfigurationError | InvalidRequestError) else 1
    except Exception:
        # Imported late, since some commands need no index and should start fast.
        from .index.reader import served

        findings: list[str] = []
        # Large files are not hashed when an index is opened, so damage can show at any time.
        with suppress(ServerError):
            findings = served.whole().verify()
        if not findings:
            raise
        write_message(f"{name}: the index is damaged: {'; '.join(findings)}\n")
        return 1


def _parser(
    name: str, version: str, serve: Serve, more: Iterable[AddCommand]
) -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=name, epilog=EXIT_CODES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"{name} {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    serving = commands.add_parser("serve", help="serve HTTP requests until stopped")
    serving.set_defaults(serve=serve)
    add = serving.add_argument
    add("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    add("--port", type=int, help="port to bind, 0 for any free port (PORT or settings.json)")
    no_auth = "accept requests without a token from everyone who can reach the address"
    add("--insecure-no-auth", action="store_true", help=no_auth)
    finish = "seconds that requests may still run after SIGTERM; chats end earlier (%(default)s)"
    add("--grace", type=_read_seconds, default=GRACE_SECONDS, metavar="SECONDS", help=finish)

    for add_command in more:
        add_command(commands)
    checked = "check the files of the index, and run known queries"
    verify = commands.add_parser("verify", help=checked)
    verify.set_defaults(answer=_verify)
    verify.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def _read_seconds(written: str) -> float:
    with suppress(ValueError):
        if 1 <= (seconds := float(written)) <= MAX_GRACE_SECONDS:
            return seconds
    raise argparse.ArgumentTypeError(f"takes 1 to {MAX_GRACE_SECONDS} seconds")


def _verify(_chosen: argparse.Namespace, search: Search) -> Answer:
    from inspect import unwrap

    from .index.reader import served
    from .index.records import count_of
    from .retrieval.journal import MAX_TOP_K

    index = served.whole()
    # The owner's hooks may leave out known items.
    ask = partial(unwrap(search), mode="keyword")
    findings = index.verify()
    # A damaged index is not searched.
    for item in () if findings else index.manifest.known_items:
        # Stages may rank newer or closer chunks above a known item, so ask for many.
        chunk = index.find_chunk(item.chunk_id)
        if not chunk or not ask(item.query, MAX_TOP_K).covers(chunk):
            findings.append(f"the query {item.query!r} does not find {item.chunk_id}")
    counts = {"documents": index.document_count, "chunks": index.chunk_count}
    report = {"index_version": index.version, **counts, "findings": findings}
    files = count_of(len(index.manifest.files), "file")
    items = count_of(len(index.manifest.known_items), "known item")
    said = f"index {index.version}: {files} and {items} checked"
    lines = [said, *(findings or ["everything is in order"])]
    return report, "\n".join(lines), 1 if findings else 0
