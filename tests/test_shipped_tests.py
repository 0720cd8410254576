"""The tests of runtime modules in exports: each export has those of its modules."""

from pathlib import Path

import pytest
from sharing import unformatted

from foundry.config.project import load_config
from foundry.features.providers import PROVIDERS
from foundry.files import templates_folder
from foundry.rendering import plan
from foundry.rendering.design import Design

ROOT = templates_folder() / "server"
TESTS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")}
RRF = "tests/retrieval/test_fusion_rrf.py"
OF_CHAT = {name for name in TESTS if name.startswith("tests/chat/")}
OF_MODEL = {
    f"tests/chat/test_{name}.py"
    for name in ("guarded_model", "model_answers", "model_text", "prompt", "support")
}
OF_STAGES = {name for name in TESTS if name.startswith("tests/retrieval/stages/")}
RECENT = {f"tests/retrieval/stages/test_{name}.py" for name in ("anchors", "recency")}
PROBE = "tests/retrieval/embedding/test_probe.py"
RIGHTS = "tests/web/test_rules.py"
OF_LOG = {f"tests/web/test_{name}.py" for name in ("questions", "thumbs")}
OF_TRANSFORMER = {
    f"tests/retrieval/embedding/test_{name}.py" for name in ("transformer", "word_pieces")
}
ORIGINALS = "tests/web/test_originals.py"
OPPOSITES = "tests/retrieval/test_opposites.py"
OF_OTHERS = {ORIGINALS, *OF_LOG, *OF_TRANSFORMER, *OF_STAGES}
OF_VECTORS = {
    f"tests/retrieval/test_{name}.py"
    for name in ("dense_lane", "encoder", "hybrid", "joined_lanes")
}
ACCESS = (
    '[build]\nduplicates = "keep"\n[server]\naccess = true\n'
    'access_rules = [{ name = "a", filters = { tags = "a" } }]'
)


def planned(folder: Path, options: str, package: str = "notes") -> dict[str, str]:
    """Return a server's test files that test runtime modules."""
    (folder / "sources").mkdir()
    (folder / "foundry.toml").write_text(
        '[project]\nname = "notes"\n[[sources]]\ntype = "folder"\npath = "sources"\n'
        f'{options}\n[export]\npackage = "{package}"\n'
    )
    config = load_config(folder)
    with unformatted():
        files = plan.plan_server(Design.of(config, PROVIDERS[config.embedding.provider]), None)
    return {name: files[name].decode() for name in files.keys() & TESTS}


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ("", {RRF, RIGHTS, PROBE, *OF_OTHERS, *OF_MODEL}),
        ("[server]\nlanguage_model = true", {RRF, RIGHTS, PROBE, *OF_OTHERS}),
        (
            '[search]\nfusion = "rrf"\n[server]\nchat = false',
            {RIGHTS, PROBE, OPPOSITES, *OF_CHAT, *OF_OTHERS},
        ),
        (
            "[search.recency]\n[search.anchors]",
            {RRF, RIGHTS, PROBE, *OF_OTHERS, *OF_MODEL} - RECENT,
        ),
        (ACCESS, {RRF, PROBE, *OF_OTHERS, *OF_MODEL}),
        (
            '[embedding]\nprovider = "none"',
            {RRF, RIGHTS, PROBE, *OF_OTHERS, *OF_MODEL, *OF_VECTORS},
        ),
        (
            '[embedding]\nprovider = "openai"\nmodel = "m"\nquery = "same"',
            {RRF, RIGHTS, "tests/retrieval/test_encoder.py", *OF_OTHERS, *OF_MODEL},
        ),
    ],
)
def test_exports_have_the_tests_of_their_modules(
    tmp_path: Path, options: str, missing: set[str]
) -> None:
    assert planned(tmp_path, options).keys() == TESTS - missing


@pytest.mark.parametrize("package", ["n", "a_name_so_long_that_lines_of_tests_have_to_break_at_it"])
def test_shipped_tests_import_only_the_package(tmp_path: Path, package: str) -> None:
    for text in planned(tmp_path, "", package).values():
        assert "foundry" not in text
        assert f"from {package}." in text
