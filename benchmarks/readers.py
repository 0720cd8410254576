"""Measures how completely files are read: `python benchmarks/readers.py FOLDER ...`.

Each FOLDER is built with the default configuration; with `--ocr`, pictures are read too. Each file
gets a line with the result of reading, and the share of its words that were found. Expected words
are: for Office files, all text of their XML; for PDF, the words that both pypdf and pdfminer.six
(`pip install pypdf[crypto] pdfminer.six`) find, or those of `expected_outputs/NAME.md` beside the
PDF, if it exists.

Repeated words count once. Recall is the share of the expected words that were read, precision the
share of the words read that were expected. Order is the share of the expected words in the expected
order. Cells are pairs of neighbouring cells of the expected tables, with recall and precision
(Göbel et al. 2012, the measure of ICDAR 2013). The last column counts HTML and component tags that
remain in chunks of Markdown, outside code.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from common import build, machine, make_project
from markdown_it import MarkdownIt

_WORD = re.compile(r"\w{2,}")
_DIVIDED = re.compile(r"([^\W\d_])[-\u00ad\u2010]\n([^\W\d_])")
_TAG = re.compile(r"(?<!\\)</?[A-Za-z][\w.-]*(?:\s[^<>]*)?/?>")
_CODE_SPAN = re.compile(r"(`+)[^`\n]+\1")
_MARKDOWN = re.compile(r"\.(?:mdx?|markdown)$")
_OFFICE_TEXT = {
    ".docx": (r"word/document\.xml", "t"),
    ".pptx": (r"ppt/slides/slide\d+\.xml", "t"),
    ".xlsx": (r"xl/sharedStrings\.xml", "t"),
}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--ocr", action="store_true", help="read pictures too (extra: ocr)")
    chosen = parser.parse_args()
    print(machine())
    for folder in chosen.folders:
        _show(folder.resolve(), ocr=chosen.ocr)
    return 0


def _show(folder: Path, *, ocr: bool) -> None:
    with tempfile.TemporaryDirectory() as work:
        source = f'type = "folder"\npath = "{folder}"\nocr = {str(ocr).lower()}'
        project = make_project(Path(work) / "project", source)
        result = build(project)
        index = Path(result.index)
        texts: dict[str, str] = defaultdict(str)
        chunks: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in (index / "chunks.jsonl").read_text(encoding="utf-8").splitlines():
            chunk = json.loads(line)
            texts[chunk["path"]] += "\n".join([chunk["title"], *chunk["section"], chunk["text"]])
            chunks[chunk["path"]].append(chunk)
        report = json.loads((index / "report.json").read_bytes())
    reasons = {entry["path"]: entry["reason"] for entry in report["skipped"]}
    print(
        f"\n{folder.name}: {result.documents} documents, {result.chunks} chunks,"
        f" {result.seconds:.1f} s\n"
    )
    print(
        "| file | outcome | words expected | recall | precision | order | cells expected | recall"
        " | precision |\n|---|---|---|---|---|---|---|---|---|"
    )
    measured = defaultdict(list)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name in texts:
            expected, found = _expected_words(path), _words(texts[name])
            figures = " | | |" + _tables_row(path, chunks[name])
            if expected:
                common = len(expected & found)
                recall, precision = common / len(expected), common / len(found)
                measured[path.suffix].append((recall, precision))
                figures = f" {len(expected)} | {recall:.3f} | {precision:.3f} |"
                figures += _tables_row(path, chunks[name])
            print(f"| {name} | read |{figures}")
        else:
            print(f"| {name} | {reasons.get(name, 'left out')} | | | | | | | |")
    for suffix, pairs in sorted(measured.items()):
        recalls, precisions = zip(*pairs, strict=True)
        print(
            f"\n{suffix}: {len(pairs)} files, mean recall {statistics.mean(recalls):.3f},"
            f" mean precision {statistics.mean(precisions):.3f}"
        )
    tags = {path: _count_tags(found) for path, found in chunks.items() if _MARKDOWN.search(path)}
    print(
        f"\nTags outside code: {sum(tags.values())}, in {sum(map(bool, tags.values()))} of"
        f" {len(tags)} files of Markdown"
    )


def _tables_row(path: Path, chunks: list[dict[str, Any]]) -> str:
    """Return the columns about order and tables, empty for files without an expected output."""
    beside = path.parent / "expected_outputs" / f"{path.stem}.md"
    is_expected = path.suffix == ".pdf" and beside.exists()
    expected = beside.read_text(encoding="utf-8") if is_expected else ""
    if not expected.strip():
        return " | | | |"
    text = "\n\n".join(chunk["text"] for chunk in chunks)
    wanted, found = _WORD.findall(expected), _WORD.findall(text)
    blocks = SequenceMatcher(None, wanted, found, autojunk=False).get_matching_blocks()
    order = sum(block.size for block in blocks) / len(wanted)
    wanted_cells, cells = _neighbours(expected), _neighbours(text)
    if not wanted_cells:
        return f" {order:.3f} | | | |"
    common = (wanted_cells & cells).total()
    precision = common / max(cells.total(), 1)
    recall = common / wanted_cells.total()
    return f" {order:.3f} | {wanted_cells.total()} | {recall:.3f} | {precision:.3f} |"


def _neighbours(text: str) -> Counter[tuple[str, str, str]]:
    """Return the pairs of neighbouring cells in tables, skipping empty cells."""
    pairs: Counter[tuple[str, str, str]] = Counter()
    for table in re.findall(r"(?:^\|.*\|[ \t]*\n?)+", text, re.MULTILINE):
        rows = [
            [" ".join(cell.split()) for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines()
            if not re.fullmatch(r"[\s|:-]+", line)
        ]
        columns = [list(column) for column in zip_longest(*rows, fillvalue="")]
        for kind, lines in (("beside", rows), ("below", columns)):
            for line in lines:
                pairs.update((kind, *pair) for pair in pairwise(filter(None, line)))
    return pairs


def _count_tags(chunks: list[dict[str, Any]]) -> int:
    """Return the number of tags outside code in a document, which is joined from its chunks."""
    lines: list[str] = []
    for chunk in chunks:
        first = chunk["position"]["line_start"]
        lines += [""] * (first + chunk["text"].count("\n") + 1 - len(lines))
        for number, line in enumerate(chunk["text"].split("\n"), first):
            lines[number] = line if len(line) > len(lines[number]) else lines[number]
    for token in MarkdownIt("commonmark").disable(["code", "html_block"]).parse("\n".join(lines)):
        if token.type == "fence" and token.map:
            lines[slice(*token.map)] = [""] * (token.map[1] - token.map[0])
    return sum(len(_TAG.findall(_CODE_SPAN.sub("", line))) for line in lines)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _expected_words(path: Path) -> set[str]:
    if path.suffix in _OFFICE_TEXT:
        return _words(_office_text(path))
    if path.suffix != ".pdf":
        return set()
    expected = path.parent / "expected_outputs" / f"{path.stem}.md"
    return _words(expected.read_text(encoding="utf-8")) if expected.exists() else _pdf_words(path)


def _office_text(path: Path) -> str:
    """Return the text of every paragraph or cell, joining runs without a separator."""
    pattern, tag = _OFFICE_TEXT[path.suffix]
    parts = []
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not re.fullmatch(pattern, member):
                continue
            for element in ElementTree.fromstring(archive.read(member)).iter():
                if element.tag.endswith(("}p", "}si")):
                    runs = (
                        run.text or "" for run in element.iter() if run.tag.endswith(f"}}{tag}")
                    )
                    parts.append("".join(runs))
    return "\n".join(parts)


def _pdf_words(path: Path) -> set[str]:
    from pdfminer.high_level import extract_text
    from pypdf import PdfReader

    try:
        first = "\n".join(page.extract_text() for page in PdfReader(path).pages)
        # A word that is hyphenated at the end of a line counts as one word.
        return set.intersection(
            *(_words(_DIVIDED.sub(r"\1\2", text)) for text in (first, extract_text(path)))
        )
    except Exception as error:
        print(f"{path.name}: no reference: {type(error).__name__}", file=sys.stderr)
        return set()


if __name__ == "__main__":
    sys.exit(main())
