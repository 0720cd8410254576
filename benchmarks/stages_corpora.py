"""Makes small corpora by a seed, each with questions for one kind of stage."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

REFERENCE_DATE = "2026-01-31"
_PARTS = (
    "pump seal valve rotor gasket filter manifold bearing coupling sensor relay breaker fuse belt"
    " roller winch hoist brake clutch gearbox turbine boiler burner chimney hatch ladder railing"
    " tank pipe flange nozzle hose meter gauge switch panel cabinet cable lamp battery"
).split()
_ACTIONS = "inspect replace clean adjust lubricate calibrate tighten drain refill label".split()
_REASONS = "heat dust damp wear vibration corrosion leakage overload freezing noise".split()
_VERSIONS = (("2026-01-28", 3), ("2026-01-05", 26), ("2025-08-01", 183), ("2023-02-01", 1095))
"""Modification dates, and their ages in days on the reference date."""


@dataclass(frozen=True, slots=True)
class Made:
    """Rows of a records source, and the relevant ids of each question."""

    name: str
    rows: list[dict[str, Any]]
    questions: list[tuple[str, list[str]]]

    def write(self, folder: Path) -> Path:
        """Write the rows as a table of Markdown documents; returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / f"{self.name}.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        return table


def make_codes(random: Random) -> Made:
    """Return 300 pages about fault codes, and logs that repeat codes; queries are sentences."""
    rows, questions = [], []
    codes = [f"E{number}" for number in random.sample(range(1000, 9999), 300)]
    for code in codes:
        part, action, reason = _pick(random)
        text = (
            f"The {part} stops because of {reason}, and the board shows {code}."
            f" {action.capitalize()} the {part} before it is started again. {_filler(random)}"
        )
        rows.append(_row(code.lower(), f"When the {part} stops", text))
        asked = random.choice(
            (
                f"What has to be done about {code} at the {random.choice(_PARTS)}?",
                f"Tell me how to mend {code}",
                f"{code} {random.choice(_REASONS)}",
            )
        )
        questions.append((asked, [code.lower()]))
    for number in range(150):
        seen = random.sample(codes, 3)
        lines = [f"{code} at the {_pick(random)[0]}, then {code} again." for code in seen]
        rows.append(_row(f"log-{number}", f"Shift log {number}", " ".join(lines)))
    return Made("codes", rows, questions)


def make_versions(random: Random) -> Made:
    """Return four versions of each subject, with other dates and details; the newest is right."""
    rows, questions = [], []
    for number, (part, action) in enumerate((p, a) for p in _PARTS for a in _ACTIONS[:3]):
        versions = list(_VERSIONS)
        random.shuffle(versions)
        for place, (modified, _) in enumerate(versions):
            weeks, reason = random.randint(2, 50), random.choice(_REASONS)
            text = (
                f"{action.capitalize()} the {part} every {weeks} weeks to prevent {reason}."
                f" Write the date on the card of the {part}."
            )
            name = f"{number}-{place}"
            rows.append(_row(name, f"{action.capitalize()} the {part}", text, modified=modified))
            if modified == _VERSIONS[0][0]:
                questions.append((f"How often do we {action} the {part}?", [name]))
    return Made("versions", rows, questions)


def make_linked(random: Random) -> Made:
    """Return manuals that link to data sheets without a common word; both are relevant."""
    rows, questions = [], []
    for number, part in enumerate(_PARTS):
        sheet = f"sheet-{number}"
        text = f"How the {part} is kept: see [the sheet](sheet-{number}). {_filler(random)}"
        rows.append(_row(f"manual-{number}", f"Keeping the {part}", text))
        figures = " ".join(str(random.randint(10, 999)) for _ in range(12))
        rows.append(_row(sheet, f"Sheet {number + 500}", f"Figures: {figures} mm, bar, N."))
        questions.append((f"keeping the {part}", [f"manual-{number}", sheet]))
    for number in range(200):
        rows.append(_row(f"note-{number}", f"Note {number}", _filler(random)))
    return Made("linked", rows, questions)


def _row(name: str, title: str, text: str, **values: str) -> dict[str, Any]:
    url = f"https://plant.example/{name}"
    return {"id": name, "title": title, "text": f"# {title}\n\n{text}", "url": url, **values}


def _pick(random: Random) -> tuple[str, str, str]:
    return random.choice(_PARTS), random.choice(_ACTIONS), random.choice(_REASONS)


def _filler(random: Random) -> str:
    return " ".join(_sentences(random, 4))


def _sentences(random: Random, count: int) -> Iterator[str]:
    for _ in range(count):
        part, action, reason = _pick(random)
        yield f"After {reason} we {action} the {part}."


def make_all() -> Sequence[Made]:
    """Return the three corpora, which are always the same."""
    return [make(Random(f"stages-{make.__name__}")) for make in _MAKERS]


_MAKERS = (make_codes, make_versions, make_linked)
