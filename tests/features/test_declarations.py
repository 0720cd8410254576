"""Every feature declaration works: it can be enabled, and its files are in the export."""

import ast
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject
from sharing import unformatted

from foundry.config.project import load_config
from foundry.features.contributions import every_feature, list_tables
from foundry.features.feature import Feature
from foundry.features.operation import Interface
from foundry.features.providers import PROVIDERS
from foundry.features.stages import STAGES
from foundry.features.stores import STORES
from foundry.features.targets import TARGETS
from foundry.files import templates_folder
from foundry.rendering.copying import RUNTIME
from foundry.rendering.design import Design
from foundry.rendering.explain import explain_files
from foundry.rendering.plan import plan_server, written_name

pytestmark = pytest.mark.usefixtures("formatted_once")

FOUNDRY = RUNTIME.parent
TABLES = {
    "understanding": 'extract = ["tags"]',
    "rerank": 'model = "m"',
    "rerank_service": 'service = "cohere"\nmodel = "m"',
    "versions": 'folders = ["v2", "v1"]',
    "pinned": 'answers = [{ query = "pump", document = "a.md" }]',
    "minimum_score": "semantic = 0.1\nscore = 0.1",
}
"""Keys for the tables that do nothing, or are rejected, without any key."""

FEATURES = [each for each in every_feature() if each.name != "http"]


def choose(feature: Feature | type[Feature]) -> tuple[str, str]:
    """Return the configuration that enables a feature, and the server's query encoder."""
    name = feature.name
    if name in STAGES:
        return f"[search.{name}]\n{TABLES.get(name, '')}\n", "static"
    if name == "access":
        rule = '[[server.access_rules]]\nname = "a"\nfilters = { tags = "a" }\n'
        return f'[build]\nduplicates = "keep"\n[server]\naccess = true\n{rule}', "static"
    if name == "search_box":
        origins = 'allowed_origins = ["https://a.example"]'
        return f"[server]\nsearch_box = true\n{origins}\n", "static"
    if isinstance(feature, Interface):
        return f"[server]\n{name} = true\n", "static"
    if name in STORES:
        return f'[store]\nengine = "{name}"\n', "static"
    if name in TARGETS:
        return f'[export]\ntargets = ["{name}"]\n', "static"
    provider = PROVIDERS[name]
    model = 'model = "m"\n' if "model" in provider.keys else ""
    return f'[embedding]\nprovider = "{name}"\n{model}', name


@pytest.fixture(params=FEATURES, ids=lambda each: each.name)
def planned(
    request: pytest.FixtureRequest, make_project: MakeProject
) -> Iterator[tuple[Feature | type[Feature], dict[str, bytes], dict[str, str]]]:
    lines, encoder = choose(request.param)
    config = load_config(make_project({"a.md": "a"}, config=f"{CONFIG}\n{lines}").root)
    design = Design.of(config, PROVIDERS[encoder])
    has_tests = any(file.startswith("tests/") for file in request.param.files)
    with unformatted():
        files = plan_server(design, None, with_tests=has_tests)
    yield request.param, files, explain_files(design, files)


def test_files_of_every_declared_feature_are_in_an_export(
    planned: tuple[Feature | type[Feature], dict[str, bytes], dict[str, str]],
) -> None:
    feature, files, reasons = planned
    package = next(name for name in files if name.endswith("/search.py")).partition("/")[0]
    for file in (written_name(file, package, "notes") for file in feature.files):
        assert file in files
        assert reasons[file] == feature.chosen_by()
    requirements = files["pyproject.toml"].decode()
    assert all(f'"{requirement}"' in requirements for requirement in feature.dependencies)
    if feature.name in STAGES:
        here = [path for path, reason in reasons.items() if feature.chosen_by() in reason]
        assert here
        assert all(path.startswith(f"{package}/") for path in here)
    if feature.section:
        template = templates_folder() / f"readme/{feature.section}.md.jinja"
        heading = template.read_text(encoding="utf-8").splitlines()[0]
        assert f"\n{heading}\n" in files["README.md"].decode()


def test_environment_blocks_match_the_template() -> None:
    template = templates_folder() / "server" / ".env.example.jinja"
    known = set(re.findall(r'"(\w+)" in environment', template.read_text(encoding="utf-8")))
    assert {block for each in every_feature() for block in each.environment} == known


def test_every_file_has_a_reason_and_every_chain_is_one_of_imports(
    make_project: MakeProject,
) -> None:
    config = load_config(make_project({"a.md": "a"}).root)
    design = Design.of(config, PROVIDERS["static"])
    files = plan_server(design, None)
    reasons = explain_files(design, files)
    assert reasons.keys() == files.keys()
    assert reasons["Dockerfile"] == '[export] targets, "docker"'
    assert reasons["server.json"] == "[server] mcp = true"
    assert reasons["pyproject.toml"] == "every server has it"
    for path, reason in reasons.items():
        links = reason.partition("imported: ")[2].split(" -> ")
        for above, below in pairwise(links):
            text = files[f"{config.package}/{above}"]
            last = Path(below).stem
            named = {
                part
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.ImportFrom)
                for part in [*(node.module or "").split("."), *(a.name for a in node.names)]
            }
            assert last in named, (path, reason)


def test_builder_modules_are_named_like_their_feature() -> None:
    for name, provider in PROVIDERS.items():
        if provider.kind in {"model", "service"}:
            module = RUNTIME / "retrieval" / "embedding" / f"{name.replace('-', '_')}.py"
            assert module.is_file()
    for name, store in STORES.items():
        if not store.is_embedded:
            assert (FOUNDRY / "stores" / name / "publishing.py").is_file()
            assert (RUNTIME / "store" / name / "engine.py").is_file()


def test_each_feature_is_chosen_in_a_different_way() -> None:
    chosen = [each.chosen_by() for each in every_feature()]
    assert len(chosen) == len(set(chosen))


def test_a_new_file_lists_every_stage() -> None:
    listed = [line.text.partition("]")[0] for line in list_tables()]
    assert [line.removeprefix("# ") for line in listed] == [f"[search.{name}" for name in STAGES]
    chosen = [line.removeprefix("[search.") for line in listed if line.startswith("[")]
    assert chosen == [
        *("operators", "correction", "suggestions"),
        *("weights_by_match", "near_duplicates", "facets"),
    ]


def test_explain_writes_nothing_and_names_every_file(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# A\n\nb\n"})
    project.succeed("build", "--quiet")
    said = json.loads(project.succeed("export", "--explain", "--json").stdout)
    text = project.succeed("export", "--explain").stdout
    assert not (project.root / "dist").exists()
    assert project.run("export", "--explain", "--check").exit_code == 2
    exported = project.export()
    written = {path.relative_to(exported).as_posix() for path in exported.rglob("*")}
    written = {path for path in written if (exported / path).is_file()}
    assert {path for path in written if "/data/" not in path} - {"SHA256SUMS"} <= said.keys()
    assert {path for path in said if not path.endswith("/")} <= written
    assert all(f"{path}\n    {reason}\n" in text for path, reason in said.items())
