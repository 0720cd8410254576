"""Are questions answered in other words? `python benchmarks/synonyms.py [FOLDER ...]`.

The questions of examples/robotics are asked with each name in its other form, long or short, and
those that name none as they are. A FOLDER of documents is asked for its own headings: those with an
acronym that its documents explain, or with the long form of one, rewritten to the other. Servers
without and with `[search.synonyms]` answer; the corpus is built once, in examples/robotics with the
names below as the file. A row says which share finds a right document first, as written and
rewritten.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from common import Search, build, load_server, machine, make_project, row

from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.stages.synonyms import FOLDER, SynonymsLayout

ROBOTICS = Path(__file__).parent.parent / "examples" / "robotics"
NAMES = {
    "SLAM": "simultaneous localization and mapping",
    "EKF": "extended Kalman filter",
    "ZMP": "zero moment point",
    "QoS": "quality of service",
    "MPC": "model predictive control",
    "PID": "proportional integral derivative",
    "IMU": "inertial measurement unit",
    "FK": "forward kinematics",
    "IK": "inverse kinematics",
    "RL": "reinforcement learning",
    "VLA": "vision language action",
    "VO": "visual odometry",
    "URDF": "unified robot description format",
}
MAX_HEADINGS = 500

Question = tuple[str, set[str]]
"""A query, and the paths or ids of the documents that answer it."""


def rewrite(query: str, names: Sequence[tuple[str, str]]) -> str:
    """Return a query with the first name that it has in its other form."""
    for short, long in names:
        for form, other in ((long, short), (short, long)):
            flags = re.IGNORECASE if form == long else re.NOFLAG
            pattern = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)", flags)
            if found := pattern.search(query):
                return query[: found.start()] + other + query[found.end() :]
    return query


def share_first(search: Search, questions: Sequence[Question]) -> float:
    """Return the share of questions whose first hit is in a right document."""
    right = 0
    for query, documents in questions:
        hits = search(query, 1).hits
        right += bool(hits) and not documents.isdisjoint({hits[0].path, hits[0].document_id})
    return right / len(questions)


def compare(
    name: str, project: Path, questions: Sequence[Question], names: Sequence[tuple[str, str]]
) -> None:
    """Print a row."""
    rewritten = [(rewrite(query, names), documents) for query, documents in questions]
    changed = sum(a != b for a, b in zip(questions, rewritten, strict=True))
    before = load_server(project, "in_these_words").search_hybrid
    after = load_server(project, "in_other_words", "[search.synonyms]").search_hybrid
    shares = [share_first(s, asked) for asked in (questions, rewritten) for s in (before, after)]
    row(name, len(questions), changed, *(f"{share:.3f}" for share in shares))


def headings_with_names(index: Index, names: Sequence[tuple[str, str]]) -> list[Question]:
    """Return headings of one document each that have a name in one of its forms."""
    found: dict[str, set[str]] = {}
    for number in range(index.chunk_count):
        chunk = index.chunk(number)
        for heading in chunk.headings():
            found.setdefault(heading, set()).add(chunk.document_id)
    named = [one for one in found if len(found[one]) == 1 and rewrite(one, names) != one]
    return [(heading, found[heading]) for heading in sorted(named)][:MAX_HEADINGS]


def main() -> None:
    """Print a table of corpora."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    folders = parser.parse_args().folders
    print(machine(), "\n")
    row("corpus", "queries", "rewritten", "as written", "synonyms", "rewritten", "synonyms")
    row(*["---"] * 7)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "robotics")
        source = f'type = "folder"\npath = "{ROBOTICS / "sources"}"'
        make_project(root, source, '[search.synonyms]\nfile = "names.txt"\n')
        lines = "".join(f"{short}, {long}\n" for short, long in NAMES.items())
        (root / "names.txt").write_text(lines, encoding="utf-8")
        build(root)
        project = make_project(root, source)
        written = (ROBOTICS / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in written]
        asked = [(entry["query"], set(entry["relevant"])) for entry in entries]
        compare("examples/robotics", project, asked, [*NAMES.items()])
        for folder in folders:
            source = f'type = "folder"\npath = "{folder.resolve()}"'
            project = make_project(Path(scratch, folder.name), source, "[search.synonyms]\n")
            build(project)
            make_project(project, source)
            server = load_server(project, "in_these_words")
            index = server.load(project / ".foundry" / "index")
            groups = SynonymsLayout(index.layout.root / FOLDER).groups
            names = [
                (group["forms"][0], group["forms"][1]) for group in json.loads(groups.read_bytes())
            ]
            compare(folder.name, project, headings_with_names(index, names), names)


if __name__ == "__main__":
    main()
