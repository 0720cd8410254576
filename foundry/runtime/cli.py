"""The command line: the options of each command, and the exit code of each error."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .evaluation import QUESTIONS, compare, describe, evaluate
from .index.errors import ConfigurationError, InvalidRequestError, ServerError
from .index.reader import current_index
from .printing import format_json, format_response
from .retrieval.filters import read_pairs
from .retrieval.results import MAX_TOP_K, SearchResponse
from .retrieval.settings import settings
from .retrieval.snippets import with_snippets

MODES = ("hybrid", "semantic", "keyword")

EXIT_CODES = """\
exit codes:
  0    done
  1    the server cannot do it: index unusable, port in use, findings of verify or eval
  2    impossible arguments, settings or environment variables
  130  interrupted"""

Search = Callable[..., SearchResponse]

Answer = tuple[object, str, int]
"""The answer of a command as JSON and as text, and its exit code."""


def run(
    name: str,
    version: str,
    search: Search,
    serve: Callable[..., None],
    arguments: Sequence[str] | None = None,
    *,
    serve_mcp: Callable[[], None] | None = None,
) -> int:
    """Run one command and return its exit code; the only place where errors are printed.

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
            value, text, code = commands[chosen.command](chosen, search)
            sys.stdout.write((format_json(value) if chosen.json else text) + "\n")
            # A reader that has gone is noticed here, and not when the interpreter ends.
            sys.stdout.flush()
            return code
        return 0
    except BrokenPipeError:
        # Nobody reads the output any more, and flushing it at exit would fail again.
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
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=name, epilog=EXIT_CODES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"{name} {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    add = commands.add_parser("serve", help="answer HTTP requests until stopped").add_argument
    add("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    add("--port", type=int, help="port to bind, 0 for any (PORT or settings.json)")
    add("--workers", type=int, default=1, metavar="N", help="serving processes (%(default)s)")
    no_auth = "bind an address that other machines can reach although no API_TOKENS are set"
    add("--insecure-no-auth", action="store_true", help=no_auth)

    if mcp:
        commands.add_parser("mcp", help="answer an MCP client over standard input and output")
    searching = commands.add_parser("search", help="print the best passages for a query")
    add = searching.add_argument
    add("query", metavar="QUERY")
    add("--top-k", type=int, default=10, metavar="N", help=f"1 to {MAX_TOP_K} (%(default)s)")
    add("--mode", choices=MODES, default="hybrid")
    add("--source", action="append", help="only from this source; repeatable")
    add("--tag", action="append", help="only with this tag; repeatable")
    add("--modified-after", metavar="DATE", help="only modified then or later")
    add("--modified-before", metavar="DATE", help="only modified earlier")
    fields = "only with this path, media_type or column of metadata; repeatable"
    add("--filter", action="append", metavar="FIELD=VALUE", help=fields)
    output = searching.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print what POST /search answers")
    output.add_argument("--explain", action="store_true", help="print where each score comes from")

    add = commands.add_parser("eval", help="ask the questions of this server").add_argument
    add("--questions", type=Path, default=QUESTIONS, metavar="FILE", help="ask these instead")
    add("--mode", action="append", choices=MODES, help="only in this mode; repeatable (all)")
    below = "how far a mean may be below the recorded one (%(default)s)"
    add("--tolerance", type=float, default=0.01, metavar="T", help=below)
    add("--json", action="store_true", help="print everything as JSON")

    checked = "check the files of the index, and that it answers known queries"
    add = commands.add_parser("verify", help=checked).add_argument
    add("--json", action="store_true", help="print the findings as JSON")
    return parser


def _search(chosen: argparse.Namespace, search: Search) -> Answer:
    wanted = {
        "source": chosen.source,
        "tags": chosen.tag,
        "modified_after": chosen.modified_after,
        "modified_before": chosen.modified_before,
        **read_pairs(chosen.filter or ()),
    }
    found = search(chosen.query.strip(), chosen.top_k, mode=chosen.mode, filters=wanted)
    response = with_snippets(found, current_index().tokenizer)
    return response.to_json(), format_response(response, explain=chosen.explain), 0


def _evaluate(chosen: argparse.Namespace, search: Search) -> Answer:
    index = current_index()
    if newest := index.filters.newest_date():
        # Where age counts, it is counted from here: figures must not change with the calendar.
        os.environ.setdefault("REFERENCE_DATE", newest)
    modes = chosen.mode or (MODES if index.manifest.dense else ("hybrid", "keyword"))
    report = evaluate(search, index, chosen.questions, dict.fromkeys(modes))
    report["recorded"], report["failures"] = compare(report, chosen.tolerance)
    return report, describe(report), 1 if report["failures"] else 0


def _verify(_chosen: argparse.Namespace, search: Search) -> Answer:
    index = current_index()
    findings = index.verify()
    # A damaged index is asked nothing.
    for item in () if findings else index.manifest.known_items:
        # As many hits as there can be: stages may rank a known item behind newer or nearer ones.
        chunk = index.find_chunk(item.chunk_id)
        if not chunk or not search(item.query, MAX_TOP_K, mode="keyword").covers(chunk):
            findings.append(f"the query {item.query!r} does not find {item.chunk_id}")
    counts = {"documents": index.document_count, "chunks": index.chunk_count}
    report = {"index_version": index.version, **counts, "findings": findings}
    files, queries = len(index.manifest.files), len(index.manifest.known_items)
    said = f"index {index.version}: {files} files, {queries} known queries checked"
    lines = [said, *(findings or ["everything is in order"])]
    return report, "\n".join(lines), 1 if findings else 0
