"""The command line: what each command does, and which exit code its errors have."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .evaluation import QUESTIONS, compare, describe, evaluate, read_questions
from .index.errors import ConfigurationError, InvalidRequestError, ServerError
from .index.served import current_index
from .printing import explain_response, format_json, format_response
from .retrieval.filters import read_pairs
from .retrieval.results import MAX_TOP_K, SearchResponse
from .retrieval.settings import settings
from .verification import verify

MODES = ("hybrid", "semantic", "keyword")

EXIT_CODES = """\
exit codes:
  0    done
  1    the server cannot do it: index unusable, port in use, findings of verify or eval
  2    it was asked for something impossible: arguments, settings, environment
  130  it was interrupted"""


def run(
    name: str,
    version: str,
    search: Callable[..., SearchResponse],
    serve: Callable[..., None],
    arguments: Sequence[str] | None = None,
    *,
    serve_mcp: Callable[[], None] | None = None,
) -> int:
    """Run one command and return its exit code; the one place where errors are printed.

    `serve` is called as `web.serving.serve`; there is a command `mcp` if `serve_mcp` is given.
    """
    try:
        chosen = _parser(name, version, mcp=serve_mcp is not None).parse_args(arguments)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        if chosen.command == "serve":
            port = settings().port if chosen.port is None else chosen.port
            is_open = chosen.insecure_no_auth
            serve(chosen.host, port, workers=chosen.workers, insecure_no_auth=is_open)
        elif chosen.command == "mcp" and serve_mcp:
            serve_mcp()
        else:
            commands = {"search": _search, "eval": _evaluate, "verify": _verify}
            return commands[chosen.command](chosen, search)
        return 0
    except BrokenPipeError:
        # Whoever read the output has gone; without this, flushing at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except ServerError as error:
        hint = f"  {error.hint}\n" if error.hint else ""
        sys.stderr.write(f"{name}: {error.message}\n{hint}")
        return 2 if isinstance(error, ConfigurationError | InvalidRequestError) else 1
    except Exception:
        # Contents are not hashed when an index is opened, so damage may show up anywhere.
        findings = current_index().verify()
        if not findings:
            raise
        sys.stderr.write(f"{name}: the index is damaged: {'; '.join(findings)}\n")
        return 1


def _parser(name: str, version: str, *, mcp: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=name, epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"{name} {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="answer HTTP requests until stopped")
    serve.add_argument("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    serve.add_argument("--port", type=int, help="port to bind, 0 for any (PORT or settings.json)")
    serve.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes that answer (%(default)s)"
    )
    serve.add_argument(
        "--insecure-no-auth",
        action="store_true",
        help="bind an address that other machines can reach although no API_TOKENS are set",
    )

    if mcp:
        commands.add_parser("mcp", help="answer an MCP client over standard input and output")

    search = commands.add_parser("search", help="print the best passages for a query")
    search.add_argument("query", type=_text, metavar="QUERY")
    search.add_argument("--top-k", type=int, default=10, metavar="N", help=f"1 to {MAX_TOP_K} (10)")
    search.add_argument("--mode", choices=MODES, default="hybrid")
    search.add_argument("--source", action="append", help="only from this source; repeatable")
    search.add_argument("--tag", action="append", help="only with this tag; repeatable")
    search.add_argument("--modified-after", metavar="DATE", help="only modified then or later")
    search.add_argument("--modified-before", metavar="DATE", help="only modified earlier")
    search.add_argument(
        "--filter",
        action="append",
        metavar="FIELD=VALUE",
        help="only with this path, media_type or column of metadata; repeatable",
    )
    output = search.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print what POST /search answers")
    output.add_argument(
        "--explain", action="store_true", help="print how each score came about, and the mode"
    )

    asking = commands.add_parser("eval", help="ask the questions that came along, and measure")
    asking.add_argument(
        "--questions", type=Path, metavar="FILE", help="other questions than those that came along"
    )
    asking.add_argument(
        "--mode", action="append", choices=MODES, help="only in this mode; repeatable (all)"
    )
    asking.add_argument(
        "--tolerance",
        type=float,
        default=0.01,
        metavar="T",
        help="how far a mean may be below the recorded one (%(default)s)",
    )
    asking.add_argument(
        "--any-corpus",
        action="store_true",
        help="compare with the recorded figures although they are of other documents",
    )
    asking.add_argument("--json", action="store_true", help="print everything as JSON")

    verifying = commands.add_parser(
        "verify", help="check that files are whole, and that what is known is found"
    )
    verifying.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def _text(argument: str) -> str:
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("not valid text in the terminal's encoding") from None
    return argument.strip()


def _search(chosen: argparse.Namespace, search: Callable[..., SearchResponse]) -> int:
    wanted = {
        "source": chosen.source,
        "tags": chosen.tag,
        "modified_after": chosen.modified_after,
        "modified_before": chosen.modified_before,
        **read_pairs(chosen.filter or ()),
    }
    response = search(chosen.query, chosen.top_k, mode=chosen.mode, filters=wanted)
    if chosen.json:
        _print(format_json(response.to_json()))
    else:
        _print(explain_response(response) if chosen.explain else format_response(response))
    return 0


def _evaluate(chosen: argparse.Namespace, search: Callable[..., SearchResponse]) -> int:
    index = current_index()
    if newest := index.filters.newest_date():
        # Where age counts, it is counted from here: figures must not change with the calendar.
        os.environ.setdefault("REFERENCE_DATE", newest)
    modes = chosen.mode or (MODES if index.manifest.dense else ("hybrid", "keyword"))
    questions = read_questions(chosen.questions or QUESTIONS)
    report, _ = evaluate(search, index, questions, tuple(dict.fromkeys(modes)))
    report["recorded"], report["failures"] = compare(
        report, chosen.tolerance, any_corpus=chosen.any_corpus
    )
    _print(format_json(report) if chosen.json else describe(report))
    return 1 if report["failures"] else 0


def _verify(chosen: argparse.Namespace, search: Callable[..., SearchResponse]) -> int:
    index = current_index()
    findings = verify(search, index)
    if chosen.json:
        report = {
            "index_version": index.version,
            "documents": index.document_count,
            "chunks": index.chunk_count,
            "findings": findings,
        }
        _print(format_json(report))
    else:
        files, known = len(index.manifest.files), len(index.manifest.known_items)
        _print(f"index {index.version}: {files} files, {known} known queries checked")
        _print("\n".join(findings) or "everything is as it should be")
    return 1 if findings else 0


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    # A reader that has gone is noticed here, and not when the interpreter ends.
    sys.stdout.flush()
