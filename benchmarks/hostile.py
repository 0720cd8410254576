"""Measures the most expensive queries: `python benchmarks/hostile.py`.

A corpus of `--chunks` generated chunks (see `synthetic`), or a folder of `--documents`, is built
once, with all the data that stages read. Servers with each stage alone, and with all of them, get
hostile queries, each server in a separate process. A cell is the processor time of a query as a
multiple of the median of five plain questions to the same server. It is the median of `--draws`
different queries of that kind.

Each time is the smallest of several, measured with plain and hostile queries in turn, so that other
processes have little effect. Before a hostile query, the server's cache of words is cleared; for
plain questions it is kept. Snippets and extracts are compared with those of plain questions, and
suggestions with a search. The exit code is 1 if a cell exceeds the bound.
"""

import argparse
import importlib
import json
import math
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from common import build, machine, make_project, render_server, row
from hostile_queries import LETTERS, Words, fill, hostile_queries
from processes import run_script
from searching import LIBRARY_THREADS
from synthetic import MAX_CHARS, generated_project, queries_of

from foundry.indexing.versions import open_index
from foundry.runtime.retrieval.stages import synonyms

MOST = 5.0
COUNTED_TEXTS = 4_000
PLAIN = 5
REPEATS, ROUNDS = 5, 5

BUILT_WITH = """
[search.operators]

[search.correction]

[search.synonyms]
file = "synonyms.txt"

[search.suggestions]

[search.expansion]
"""
STAGES = {
    "none": "",
    "operators": "[search.operators]",
    "correction": "[search.correction]",
    "synonyms": '[search.synonyms]\nfile = "synonyms.txt"',
    "expansion": "[search.expansion]",
    "near_duplicates": "[search.near_duplicates]",
    "document_cap": "[search.document_cap]",
    "links": "[search.links]",
    "heuristics": "[search.heuristics]",
    "anchors": "[search.anchors]",
    "word_parts": "[search.word_parts]",
    "understanding": "[search.understanding]",
}
ALL = "all"
RANKING = ("[search.adaptive_weights]", "[search.recency]")


def options_of(stage: str) -> str:
    """Return the tables of one stage, or of all stages."""
    if stage != ALL:
        return STAGES[stage]
    tables = (*STAGES.values(), "[search.suggestions]", *RANKING)
    return "\n".join(tables)


def prepare(folder: Path, chunks: int, documents: Path | None) -> tuple[Path, list[str]]:
    """Return a project that is built with all data that stages read, and its plain questions."""
    if documents is None:
        generated = generated_project(folder, chunks)
        source = f'type = "records"\npath = "{generated.resolve() / "corpus.jsonl"}"'
        project, extra = folder / f"hostile-{chunks}", f"\n[chunking]\nmax_chars = {MAX_CHARS}\n"
    else:
        source = f'type = "folder"\npath = "{documents.resolve()}"'
        project, extra = folder / f"hostile-{documents.name}", ""
    if not [*project.glob(f".foundry/index/*/{synonyms.FOLDER}")]:
        make_project(project, source, extra + BUILT_WITH)
        texts = read_lines(generated / "corpus.jsonl" if documents is None else documents)
        groups = map(", ".join, Words.of(texts).groups())
        (project / "synonyms.txt").write_text("\n".join(groups) + "\n", encoding="utf-8")
        build(project)
        make_project(project, source, extra)
    if documents is None:
        return project, queries_of(generated)[:PLAIN]
    index = open_index(project / ".foundry" / "index")
    step = index.chunk_count // (PLAIN + 1)
    headings = (index.chunk(number).headings() for number in range(step, PLAIN * step + 1, step))
    return project, [f"how to use {' '.join(found[-2:])}" for found in headings]


def read_lines(place: Path) -> Iterator[str]:
    """Yield some lines of a file, or of all files of a folder."""
    files = (
        sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    )
    lines = chain.from_iterable(file.open(encoding="utf-8", errors="replace") for file in files)
    return islice(lines, COUNTED_TEXTS)


def words_of(project: Path) -> Words:
    """Return the words of a built corpus."""
    index = open_index(project / ".foundry" / "index")
    step = max(1, index.chunk_count // COUNTED_TEXTS)
    texts = (index.chunk(number).text for number in range(0, index.chunk_count, step))
    return Words.of(islice(texts, COUNTED_TEXTS))


def draw_all(words: Words, draws: int, filters: Sequence[str]) -> dict[str, list[str]]:
    """Return some queries of each kind."""
    kinds = hostile_queries(words, filters)
    return {
        name: [draw(random.Random(seed)) for seed in range(draws)] for name, draw in kinds.items()
    }


def processor_seconds(ask: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    """Return the processor time, in seconds, of each query."""
    taken = []
    for query in queries:
        begun = time.process_time()
        ask(query)
        taken.append(time.process_time() - begun)
    return taken


def note_least(each: dict[str, float], query: str, seconds: list[float]) -> None:
    """Keep the smallest time of a query."""
    each[query] = min(*seconds, each.get(query, math.inf))


def forget_words(index: Any) -> None:
    """Clear an index's caches of words and of compiled phrases."""
    for look_up in (index.tokenizer.token, index.keyword_lane.find, index.encoder.pieces.cut_word):
        look_up.__self__.clear()
    re.purge()


def measure(server: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Search a server in this process; returns milliseconds of plain questions, and multiples."""
    index = server.load(Path(asked["index"]))
    room = server.__name__

    def in_room(module: str) -> Any:
        return importlib.import_module(f"{room}.{module}")

    tokenizer, plain = index.tokenizer, asked["plain"]
    doors: dict[str, Callable[[str], object]] = {"search": server.search_hybrid}
    if asked["doors"]:
        snippets, answer = in_room("retrieval.snippets"), in_room("chat.answer")
        selection = in_room("chat.quoting.selection")

        def show(query: str) -> object:
            return snippets.add_snippets(server.search_hybrid(query), tokenizer)

        def extract(query: str) -> object:
            hits = server.search_hybrid(query).hits
            return selection.select_quotes(query, answer.number_passages(hits), index)

        def show_most(query: str) -> object:
            return snippets.add_snippets(server.search_hybrid(query, 100), tokenizer)

        doors |= {"snippets": show, "extracts": extract, "snippets, top_k 100": show_most}
    found: dict[str, Any] = {}
    for name, ask in doors.items():
        each: dict[str, float] = {}
        for _ in range(ROUNDS):
            for query in plain:
                note_least(each, query, processor_seconds(ask, [query] * REPEATS))
            for query in chain.from_iterable(asked["queries"].values()):
                forget_words(index)
                note_least(each, query, processor_seconds(ask, [query]))
        usual = statistics.median(each[query] for query in plain)
        ratios = {
            kind: statistics.median(each[query] for query in queries) / usual
            for kind, queries in asked["queries"].items()
        }
        found[name] = {"ms": usual * 1000, "ratios": ratios}
    if asked["suggest"]:
        suggestions = in_room("retrieval.stages.suggestions")
        usual = found["search"]["ms"] / 1000
        found["suggest"] = {
            kind: max(processor_seconds(lambda query: suggestions.suggest(index, query), queries))
            / usual
            for kind, queries in asked["suggest"].items()
        }
    return found


def prefix_storms(words: Words) -> dict[str, list[str]]:
    """Return beginnings of queries that many words and headings continue."""
    return {
        "a letter": [*LETTERS],
        "two letters": [a + b for a in "acdeimprst" for b in "aeiou"],
        "words": [word[:4] for word in words.frequent[:50]],
        "200 characters": [
            fill(lambda c: c.choice(words.frequent), length=200)(random.Random(seed))
            for seed in range(20)
        ],
    }


def report(project: Path, plain: list[str], draws: int, stages: Sequence[str]) -> float:
    """Print the tables of one corpus; returns the largest cell."""
    words = words_of(project)
    index = project / ".foundry" / "index"
    filters = [f"path:{word}" for word in words.frequent[:20]]
    about = {"index": str(index), "plain": plain, "queries": draw_all(words, draws, filters)}
    columns: dict[str, dict[str, Any]] = {}
    for stage in stages:
        is_all = stage == ALL
        rendered = render_server(project, f"hostile_{stage}", options_of(stage))
        asked = about | {"doors": is_all, "suggest": prefix_storms(words) if is_all else {}}
        file = project / "asked.json"
        file.write_text(json.dumps(asked), encoding="utf-8")
        limits = dict.fromkeys(LIBRARY_THREADS, "1")
        found = run_script(Path(__file__), "--ask", str(rendered), str(file), variables=limits).said
        columns[stage] = found.pop("search")
        suggested = found.pop("suggest", {})
        columns |= {f"{stage}, {name}": column for name, column in found.items()}
    print()
    row("query", *columns)
    row(*["---"] * (len(columns) + 1))
    row("plain questions, ms", *(f"{column['ms']:.2f}" for column in columns.values()))
    kinds = columns[stages[0]]["ratios"]
    largest = max((*suggested.values(), 0.0)) if ALL in stages else 0.0
    for kind in kinds:
        ratios = [column["ratios"][kind] for column in columns.values()]
        largest = max(largest, *ratios)
        row(kind, *(f"**{ratio:.1f}**" if ratio > MOST else f"{ratio:.1f}" for ratio in ratios))
    if ALL in stages:
        print()
        row("suggestions", "to a plain question, the slowest")
        row("---", "---")
        for kind, ratio in suggested.items():
            row(kind, f"{ratio:.2f}")
    return largest


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument(
        "--documents", type=Path, nargs="*", default=[], help="folders of documents"
    )
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use them again")
    parser.add_argument("--draws", type=int, default=5, help="queries of a kind (%(default)s)")
    parser.add_argument("--stages", nargs="+", choices=[*STAGES, ALL], default=[*STAGES, ALL])
    parser.add_argument("--ask", nargs=2, type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ask:
        rendered, file = chosen.ask
        sys.path.insert(0, str(rendered))
        server = importlib.import_module(rendered.name)
        print(json.dumps(measure(server, json.loads(file.read_bytes()))))
        return 0
    print(machine())
    largest = 0.0
    with tempfile.TemporaryDirectory() as work:
        corpora = [(0, folder) for folder in chosen.documents]
        corpora += [(chunks, None) for chunks in chosen.chunks]
        for chunks, documents in corpora:
            project, plain = prepare(chosen.folder or Path(work), chunks, documents)
            print(f"\n{project.name}")
            largest = max(largest, report(project, plain, chosen.draws, chosen.stages))
    print(f"\nAt most {MOST:g}: {'pass' if largest <= MOST else 'fail'} ({largest:.1f})")
    return 0 if largest <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
