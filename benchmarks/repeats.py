"""What a cache of answers adds to a server, by how many searches were asked before.

`python benchmarks/repeats.py CORPUS` (as for `query.py`) asks two exports the same log over HTTP,
one of them with `[server] answer_cache = true`, a query of the one after a query of the other, with
the default options. Of the log a given share are repeats of what was asked before, drawn evenly, at
places drawn as well. Rates are answers for a second of processor of the server; all bodies but
`took_ms` must be equal.
"""

import argparse
import os
import random
import re
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from common import machine, row
from indexed import IndexedCorpus
from processes import memory_of, scheduled_seconds
from query import connect, post_query, project_of, say_nothing
from query_log import EACH, SEED, kinds, make_log
from serve import running

from foundry import pipeline

SHARES = (0.0, 0.25, 0.5)
CHOICE = "\n[server]\nanswer_cache = true\n"
# Highlights of a few snippets depend on the order of a set.
VARIABLES = {"LOG_LEVEL": "warning", "PYTHONHASHSEED": "0"}
COLUMNS = ("repeats", "queries", "off", "on", "ratio", "private MB off", "on")
_TOOK = re.compile(rb'"took_ms":[0-9.eE+-]+')


def with_repeats(queries: list[str], share: float, chooser: random.Random) -> list[str]:
    """Return a log with each query once, and so large a share of repeats of earlier ones."""
    log = [*queries]
    repeats = round(len(queries) * share / (1 - share))
    for _ in range(repeats):
        place = chooser.randrange(1, len(log) + 1)
        log.insert(place, log[chooser.randrange(place)])
    return log


def export(project: Path, place: Path, options: str) -> Path:
    """Export a built project with other options."""
    file = project / "foundry.toml"
    written = file.read_text(encoding="utf-8")
    file.write_text(written + options, encoding="utf-8")
    try:
        return pipeline.export(project, place, say_nothing, force=False, trust=False)
    finally:
        file.write_text(written, encoding="utf-8")


class Asked:
    """A server that is asked over one connection, and what that has cost it."""

    def __init__(self, address: str, pid: int) -> None:
        """Connect."""
        self._connection = connect(address)
        self.pid, self.seconds = pid, 0.0

    def search(self, query: str) -> bytes:
        """Return the body of an answer but for the time that it took."""
        before = scheduled_seconds(self.pid)
        body = post_query(self._connection, query)
        self.seconds += scheduled_seconds(self.pid) - before
        return _TOOK.sub(b"", body)


def report(exports: list[Path], log: list[str], warm: list[str], share: float) -> None:
    """Ask both servers, started anew, and print their row."""
    with ExitStack() as stack:
        opened = (stack.enter_context(running(each, **VARIABLES)) for each in exports)
        off, on = (Asked(*server) for server in opened)
        for query in warm:
            assert off.search(query) == on.search(query)
        off.seconds = on.seconds = 0.0
        for number, query in enumerate(log):
            one, other = (off, on) if number % 2 else (on, off)
            assert one.search(query) == other.search(query), query
        rates = [len(log) / server.seconds for server in (off, on)]
        private = (f"{memory_of(server.pid).private:.0f}" for server in (off, on))
        cells = (f"{rates[0]:.0f}", f"{rates[1]:.0f}", f"{rates[1] / rates[0]:.2f}", *private)
        row(f"{share:.0%}", len(log), *cells)


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", default="shipped")
    parser.add_argument("--folder", type=Path, help="keep what is built here, and use it again")
    parser.add_argument("--each", type=int, default=EACH, help="queries of each kind and length")
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        project = project_of(chosen.corpus, chosen.folder or Path(work))
        corpus = IndexedCorpus(project / ".foundry" / "index")
        draws = kinds([*corpus.texts()])
        warm = make_log(draws, 1, SEED + 1)
        known = set(warm)
        queries = [query for query in make_log(draws, chosen.each) if query not in known]
        print(f"\n{Path(chosen.corpus).name}: {corpus.manifest.chunks:,} chunks\n")
        row(*COLUMNS)
        row(*["---"] * len(COLUMNS))
        exports = [
            export(project, Path(work) / name, options)
            for name, options in (("off", ""), ("on", CHOICE))
        ]
        for share in SHARES:
            log = with_repeats(queries, share, random.Random(SEED))
            report(exports, log, warm, share)
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
