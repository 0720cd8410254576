"""Which names a text defines."""

import pytest

from foundry.indexing.keyword.definitions import defined_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# SLAM\n\nSLAM is the problem of drawing a map.", ["SLAM"]),
        ("A *passive check* is a special kind of check.", ["passive check"]),
        ("Thread Local Storage (TLS) is the method.", ["Thread Local Storage", "TLS"]),
        ("The Kalman filter is a way to estimate.", ["Kalman filter"]),
        ("Humanoids are the main peoples of the world.", ["Humanoids"]),
        ("Ein Roboter ist eine Maschine.", ["Roboter"]),
        ("Un robot est une machine.", ["robot"]),
        ("Un robot es una m\u00e1quina.", ["robot"]),
        ("(e) \u201cConsumer\u201d means a natural person.", ["Consumer"]),
        ("Rules.\n\n- **Undue risk** means one without need.", ["Undue risk"]),
        ("```\nSLAM is a word.\n```\nMaps are drawn.", []),
        # These sentences continue a topic, so they define no name.
        ("Maps are drawn.\n\nThe map is a picture.", []),
        ("The result is the sum.", []),
        ("This page is a reference.", []),
        ("Each robot is a machine.", []),
        ("Of all is a list.", []),
        ("| SLAM is a | row |", []),
        # Such rows count only in a glossary.
        ("**Range:** 60 feet", []),
    ],
)
def test_a_text_defines_names(text: str, names: list[str]) -> None:
    assert list(defined_names(text, ["Maps"])) == names


@pytest.mark.parametrize(
    "line",
    [
        *("Loop: a way back", "- **Loop**: a way back", "**Loop:** a way back", "* Loop - a way"),
        *("Loop \u2013 a way back", "| Loop | a way back |", "; Loop : a way back", "`Loop`:"),
    ],
)
def test_entries_of_glossaries_are_definitions(line: str) -> None:
    for heading in ("Glossary", "Definitions and rules", "List of acronyms"):
        assert list(defined_names(f"Words.\n\n{line}\n", ["Guide", heading])) == ["Loop"]
    assert list(defined_names(f"Words.\n\n{line}\n", ["Guide", "Glossaries' end"])) == []
