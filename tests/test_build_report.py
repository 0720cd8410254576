"""A build's report on its sources: copies, boilerplate, findings; and `--strict`."""

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeProject, Project

from foundry.building.report_text import sum_up_left_out
from foundry.documents.reasons import Reason
from foundry.evaluation.questions import Question
from foundry.indexing.versions import open_index
from foundry.runtime.evaluation.judging import resolve

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

CONFIG = """
[project]
name = "notes"

[[sources]]
type = "folder"
name = "guide"
path = "guide"
max_bytes = 5000

[[sources]]
type = "folder"
name = "archive"
path = "archive"
base_url = "https://example.org/archive"
tags = ["old"]
"""
KEY = "AKIA" + "".join(random.Random(1).choices(string.ascii_uppercase + "234567", k=16))
MENU = "- [Start](/) - [Products and services](/products) - [About the company](/about)"
SPANISH = "El niño comió mañana en España; ¿qué pasó?"
FILES: dict[str, str | bytes] = {
    "guide/pump.md": "# Pump\n\nThe pump lifts water out of the shaft.\n",
    "guide/keys.md": f"# Keys\n\nThe first line.\n\nUse {KEY} for the store.\n",
    "guide/empty.md": "",
    "guide/large.txt": "word " * 2000,
    "guide/torn.txt": b"The caf\xc3\xa9 is at the gate\xff of the mine.",
    "archive/copy of pump.md": "# Pump\n\nThe pump lifts water\nout of the shaft.\n",
    "archive/seen.md": "# Seen\n\nSpoken\u200b aloud\u202e here.\n",
    "archive/nota.txt": SPANISH.encode("cp1252"),
    **{f"archive/page{n}.md": f"{MENU}\n\n# Page {n}\n\nText {n}.\n" for n in range(10)},
}


def report_of(project: Project) -> dict[str, Any]:
    report = json.loads((project.index / "report.json").read_bytes())
    assert isinstance(report, dict)
    return report


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_counts_are_exact(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG)
    printed = json.loads(project.succeed("build", "--json").stdout)
    guide, archive = report_of(project)["sources"]
    assert printed["sources"] == [guide, archive]
    assert guide == {
        "name": "guide",
        "documents": 3,
        "chunks": 3,
        "characters": 46 + 64 + 37,
        "skipped": 2,
        "skipped_by_reason": {"empty file": 1, "over the size limit": 1},
        "oversize": 1,
        "copies": 0,
        "boilerplate_chunks": 0,
        "boilerplate_characters": 0,
        "replaced": 1,
        "guessed": 0,
        "hidden": {},
        "secrets": 1,
        "words": {"source": 27, "read": 27, "left_out": {}, "unaccounted": 0},
    }
    assert archive == {
        "name": "archive",
        "documents": 12,
        "chunks": 13,
        "characters": 26 + len(SPANISH) + len(MENU) + 10 * len("# Page 0\n\nText 0."),
        "skipped": 0,
        "skipped_by_reason": {},
        "oversize": 0,
        "copies": 1,
        "boilerplate_chunks": 9,
        "boilerplate_characters": 9 * len(MENU),
        "replaced": 0,
        "guessed": 1,
        "hidden": {"bidirectional controls": 1, "zero-width characters": 1},
        "secrets": 0,
        "words": {"source": 142, "read": 142, "left_out": {}, "unaccounted": 0},
    }


def test_omitted_files_are_named_with_their_reason(make_project: MakeProject) -> None:
    empty = {f"guide/empty{number}.md": "" for number in range(3)}
    project = make_project({**FILES, **empty}, config=CONFIG)
    said = project.succeed("build").stdout
    report = project.index / "report.json"
    assert (
        "5 skipped:\n"
        "       4  empty file\n"
        "          guide: empty.md\n"
        "          guide: empty0.md\n"
        "          guide: empty1.md\n"
        "          and 1 more\n"
        "       1  over the size limit\n"
        "          guide: large.txt (10000 bytes, the limit is 5000)\n"
        f"all of them are listed in {report}\n"
        "to read larger files: max_bytes in [[sources]]\n"
    ) in said
    (project.root / "guide" / "empty2.md").unlink()
    said = project.succeed("build").stdout
    assert "          guide: empty1.md\n       1  over the size limit\n" in said
    assert "are listed in" not in said


def test_an_unreadable_source_is_an_error_that_names_omitted_files(
    make_project: MakeProject,
) -> None:
    project = make_project({"guide/large.txt": "word " * 2000, "archive/a.md": ""}, config=CONFIG)
    refused = project.run("build")
    assert refused.exit_code == 1
    assert "          guide: large.txt (10000 bytes, the limit is 5000)\n" in refused.output
    assert "hint: to read larger files: max_bytes in [[sources]]\n" in refused.output
    (project.root / "guide" / "large.txt").write_text("")
    said = project.run("build").output
    assert "hint: check path or url, include and exclude in foundry.toml" in said
    table = '[project]\nname = "notes"\n[[sources]]\ntype = "records"\npath = "t.jsonl"\n'
    (project.root / "foundry.toml").write_text(table)
    (project.root / "t.jsonl").write_text('{"id": "1", "text": ""}\n')
    said = project.run("build").output
    assert "hint: check path and the names of columns in foundry.toml" in said


def test_findings_name_file_and_line_and_never_the_value(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG)
    result = project.succeed("build")
    assert "guide: keys.md:5: AWS access key" in result.stdout
    assert "archive: seen.md:3: zero-width characters" in result.stdout
    assert "archive: nota.txt: guessed encoding: cp1252" in result.stdout
    assert "guide: torn.txt: replaced characters" in result.stdout
    report = report_of(project)
    assert report["findings"] == [
        {
            "source": source,
            "path": path,
            "group": group,
            "kind": kind,
            "line": line,
            "count": 1,
        }
        for source, path, group, kind, line in (
            ("guide", "keys.md", "secret", "AWS access key", 5),
            ("guide", "torn.txt", "decoding", "replaced characters", None),
            ("archive", "nota.txt", "decoding", "guessed encoding: cp1252", None),
            ("archive", "seen.md", "hidden", "zero-width characters", 3),
            ("archive", "seen.md", "hidden", "bidirectional controls", 3),
        )
    ]
    assert report["copies"] == [
        {
            "source": "archive",
            "path": "copy of pump.md",
            "kept_source": "guide",
            "kept_path": "pump.md",
        }
    ]
    strict = project.run("build", "--strict")
    for output in (result.output, strict.output, json.dumps(report)):
        assert KEY not in output
    # The key is only reported, because the text belongs to the owner.
    assert KEY.encode() in all_bytes(project.index)


def test_the_table_shows_only_columns_with_values(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# A\n\nText.\n"})
    lines = project.succeed("build").stdout.splitlines()
    (heading,) = [line for line in lines if line.startswith("source ")]
    assert heading.split() == ["source", "documents", "chunks", "characters", "seconds"]
    fuller = make_project(FILES, config=CONFIG, name="fuller").succeed("build").stdout
    (heading,) = [line for line in fuller.splitlines() if line.startswith("source ")]
    assert heading.split()[4:] == (
        "skipped oversize copies boilerplate replaced guessed hidden secrets seconds".split()
    )
    assert next(line for line in fuller.splitlines() if line.startswith("total")).split()[1] == "15"


def test_a_copy_is_found_by_its_own_path_tags_and_metadata(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG)
    project.succeed("build")
    place = {
        "source": "archive",
        "path": "copy of pump.md",
        "url": "https://example.org/archive/copy%20of%20pump.md",
        "title": "Pump",
    }
    for arguments in ([], ["--source", "archive"], ["--tag", "old"], ["--source", "guide"]):
        hit = project.ask("pump lifts water out of the shaft", "--top-k", "1", *arguments)
        (found,) = hit["results"]
        assert (found["source"], found["path"]) == ("guide", "pump.md")
        (copy,) = found["also_at"]
        assert {name: copy[name] for name in place} == place
    asked = Question("pump", {"copy of pump.md": 1.0, copy["document_id"]: 2.0})
    resolved, missing = resolve(open_index(project.index), [asked])
    assert (resolved[0].relevant, missing) == ({found["document_id"]: 2.0}, [])
    by_path = project.ask("pump", "--filter", "path=copy of pump.md")
    assert [found["path"] for found in by_path["results"]] == ["pump.md"]
    shown = json.loads(
        project.succeed("inspect", "--document", copy["document_id"], "--json").stdout
    )
    assert (shown["path"], shown["also_at"]) == ("pump.md", [copy])


def test_every_copy_is_named_by_a_hit(make_project: MakeProject) -> None:
    names = [f"copy of {number}.md" for number in range(30)]
    project = make_project(dict.fromkeys(names, FILES["guide/pump.md"]))
    project.succeed("build")
    (found,) = project.ask("water out of the shaft")["results"]
    assert {found["path"], *(place["path"] for place in found["also_at"])} == {*names}


def test_copies_and_boilerplate_are_kept_if_configured(make_project: MakeProject) -> None:
    config = CONFIG + '\n[build]\nduplicates = "keep"\nboilerplate = "keep"\n'
    project = make_project(FILES, config=config)
    project.succeed("build")
    archive = report_of(project)["sources"][1]
    assert (archive["copies"], archive["documents"], archive["chunks"]) == (0, 13, 23)


def test_the_index_does_not_depend_on_earlier_builds(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG)
    first = project.root / "guide" / "a.md"
    first.write_bytes((project.root / "guide" / "pump.md").read_bytes())
    project.succeed("build")
    assert report_of(project)["copies"][0]["kept_path"] == "a.md"
    first.unlink()
    project.succeed("build")
    again = make_project(FILES, config=CONFIG, name="again")
    again.succeed("build")
    assert all_bytes(project.index) == all_bytes(again.index)


def test_formats_read_as_plain_text_are_reported(make_project: MakeProject) -> None:
    names = ("a.foo", "deep/b.FOO", "c.bar", "d.txt", "e.log", "README", "f.md", "g.svg")
    project = make_project({f"guide/{name}": f"Words of {name}." for name in names}, config=CONFIG)
    (project.root / "archive").mkdir()
    for _ in range(2):
        said = project.succeed("build", "--strict").output
        line = "read as plain text, since no reader handles these extensions: .bar (1), .foo (2)"
        assert line in said
        (project.root / "guide" / "h.md").write_text("More.")
    report = json.loads((project.index / "report.json").read_text())
    assert report["plain_text"] == {".bar": 1, ".foo": 2}
    assert report["skipped"][0]["detail"] == 'read with "**/*.svg" in include'


def test_omitted_formats_are_summed_up_with_the_extra_that_reads_them() -> None:
    reasons = [Reason.WITH_RST, Reason.NEEDS_OCR, Reason.WITH_OFFICE, Reason.WITH_RST]
    skipped = [{"reason": str(each)} for each in (*reasons, Reason.NO_DOCUMENT)]
    report = {"skipped": skipped, "findings": [], "lacking": {"code": 7, "office": 1}}
    left_out, extras, scans = sum_up_left_out(report, adopted=False)
    assert left_out.startswith(
        "4 files left out: to be read with pip install 'rag-foundry[rst]' (2)"
    )
    assert extras == "to read more of them: pip install 'rag-foundry[office,rst,code]'"
    assert scans.endswith("pip install 'rag-foundry[ocr]'")
    nothing = {"skipped": [{"reason": str(Reason.NO_DOCUMENT)}], "findings": []}
    assert [*sum_up_left_out(nothing, adopted=False)] == []


def test_strict_publishes_nothing_and_lists_everything(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG)
    refused = project.run("build", "--strict")
    assert refused.exit_code == 1
    for line in (
        "guide: empty.md: skipped: empty file",
        "guide: large.txt: skipped: over the size limit",
        "guide: keys.md:5: may be a secret: AWS access key",
    ):
        assert line in refused.output
    assert not (project.root / ".foundry" / "index" / "CURRENT").exists()
    project.succeed("build")
    assert project.run("build", "--strict").exit_code == 1
    for name in ("empty.md", "large.txt", "keys.md"):
        (project.root / "guide" / name).unlink()
    assert json.loads(project.succeed("build", "--strict", "--json").stdout)["documents"] == 14


def test_files_named_like_secrets_are_counted_and_can_be_included(
    make_project: MakeProject,
) -> None:
    files = {"guide/a.md": "# A", "guide/keys/credentials.json": '{"account": "zebra"}'}
    files["archive/b.md"] = "# B"
    project = make_project(files, config=CONFIG)
    printed = project.succeed("build").stdout
    assert "1 skipped:\n       1  looks like a secret\n" in printed
    assert 'include = ["**/*", "/PATH/OF/IT"] in [[sources]]' in printed
    skipped = {
        **{"source": "guide", "path": "keys/credentials.json"},
        **{"reason": "looks like a secret"},
        "detail": 'read with "/keys/credentials.json" in include',
    }
    assert report_of(project)["skipped"] == [skipped]
    config = project.root / "foundry.toml"
    including = 'name = "guide"\ninclude = ["**/*", "/keys/credentials.json"]'
    config.write_text(config.read_text().replace('name = "guide"', including))
    printed = project.succeed("build").stdout
    assert "skipped" not in printed
    assert "PATH/OF/IT" not in printed
    assert project.ask("zebra")["results"][0]["path"] == "keys/credentials.json"


def test_texts_with_private_keys_have_no_hint_to_include_them(
    make_project: MakeProject,
) -> None:
    files = {"guide/a.md": "# A", "guide/b.md": "-----BEGIN PRIVATE KEY-----\nMII"}
    project = make_project({**files, "archive/b.md": "# B"}, config=CONFIG)
    printed = project.succeed("build").stdout
    assert "1  holds a private key\n" in printed
    assert "PATH/OF/IT" not in printed
