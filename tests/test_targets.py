"""Deploy targets: the rendered files, checked by the validators of their formats."""

import json
import re
import subprocess
import sys
import tomllib
import typing
from pathlib import Path

import containers
import pytest
import yaml
from conftest import MakeProject
from sharing import unformatted
from systems import needs_systemd

from foundry.config.export import Target
from foundry.config.project import load_config
from foundry.errors import RenderError
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.formatting import parse_back
from foundry.rendering.plan import plan_server
from foundry.runtime.errors import ConfigurationError
from foundry.runtime.settings import settings

pytestmark = pytest.mark.usefixtures("formatted_once")

ROOT = Path(__file__).parent.parent
TARGETS: tuple[str, ...] = typing.get_args(Target)
FILES = {
    "docker": {"Dockerfile", ".dockerignore"},
    "compose": {"compose.yaml"},
    "kubernetes": {"kubernetes.yaml"},
    "fly": {"fly.toml"},
    "render": {"render.yaml"},
    "railway": {"railway.json"},
    "cloud-run": {"cloud-run.yaml"},
    "systemd": {"my_docs-2.service"},
    "procfile": {"Procfile"},
}
ALL_FILES = set[str]().union(*FILES.values())
HEADINGS = {
    "docker": "Run it in a container",
    "compose": "Run it with Docker Compose",
    "kubernetes": "Run it on Kubernetes",
    "fly": "Run it on Fly.io",
    "render": "Run it on Render",
    "railway": "Run it on Railway",
    "cloud-run": "Run it on Cloud Run",
    "systemd": "Run it with systemd",
    "procfile": "Run it from a Procfile",
}
NOTE = {"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"}


def config(*targets: str, name: str = "my_docs-2") -> str:
    return f"""
[project]
name = "{name}"
title = "Canary title: {{{{ x }}}}"
description = "Canary description: ${{HOME}}"
[[sources]]
type = "folder"
path = "sources"
[server]
port = 8123
allowed_hosts = ["canary.example.org"]
[export]
targets = {json.dumps(targets)}
"""


def render(make_project: MakeProject, *targets: str, name: str = "my_docs-2") -> dict[str, bytes]:
    project = make_project(NOTE, config=config(*targets, name=name))
    with unformatted():
        return plan_server(
            Design.of(load_config(project.root), PROVIDERS["static"]), None, with_tests=False
        )


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("project")
    (root / "sources").mkdir()
    (root / "foundry.toml").write_text(config(*TARGETS), encoding="utf-8")
    return plan_server(Design.of(load_config(root), PROVIDERS["static"]), None, with_tests=False)


@pytest.fixture
def folder(rendered: dict[str, bytes], tmp_path: Path) -> Path:
    """The target's files on disk."""
    folder = tmp_path / "rendered"
    folder.mkdir()
    for name in ALL_FILES:
        (folder / name).write_bytes(rendered[name])
    return folder


def check(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def installed(name: str) -> Path:
    """Return the path of a validator, which the extra `dev` installs."""
    return Path(sys.executable).parent / name


@pytest.mark.parametrize("target", TARGETS)
def test_target_brings_its_own_files_and_its_section(
    target: str, make_project: MakeProject
) -> None:
    files = render(make_project, target)
    image = set() if target in {"systemd", "procfile"} else FILES["docker"]
    assert files.keys() & ALL_FILES == FILES[target] | image
    readme = files["README.md"].decode()
    chosen = {target, "docker"} if image else {target}
    assert {key for key, heading in HEADINGS.items() if f"\n## {heading}\n" in readme} == chosen
    rows = readme.partition("| File | Content |")[2]
    missing = {name for name in FILES[target] - {".dockerignore"} if f"`{name}`" not in rows}
    assert not missing


@pytest.mark.parametrize("has_box", [True, False])
def test_the_search_box_gets_its_token_wherever_tokens_are_set(
    has_box: bool, make_project: MakeProject
) -> None:
    box = 'port = 8123\nsearch_box = true\nallowed_origins = ["https://docs.example.com"]'
    text = config("docker", "render", "cloud-run")
    text = text.replace("port = 8123", box if has_box else "port = 8123")
    project = make_project(NOTE, config=text)
    with unformatted():
        design = Design.of(load_config(project.root), PROVIDERS["static"])
        files = plan_server(design, None, with_tests=False)
    commands = files["README.md"].decode().partition("## Deploy")[2]
    for said in (
        "\nexport SEARCH_BOX_TOKEN=",
        " -e API_TOKENS -e SEARCH_BOX_TOKEN my_docs-2",
        "gcloud secrets create my-docs-2-search-box-token",
        "The search box uses the same token",
    ):
        assert (said in commands) == has_box
    (service,) = yaml.safe_load(files["render.yaml"])["services"]
    variables = {each["key"]: each.get("fromService") for each in service["envVars"]}
    own = {"type": "web", "name": "my_docs-2", "envVarKey": "API_TOKENS"}
    assert variables.get("SEARCH_BOX_TOKEN") == (own if has_box else None)
    (container,) = yaml.safe_load(files["cloud-run.yaml"])["spec"]["template"]["spec"]["containers"]
    secrets = {each["name"]: each.get("valueFrom") for each in container["env"]}
    secret = {"secretKeyRef": {"name": "my-docs-2-search-box-token", "key": "latest"}}
    assert secrets.get("SEARCH_BOX_TOKEN") == (secret if has_box else None)


def test_targets_may_be_empty(make_project: MakeProject) -> None:
    files = render(make_project)
    assert not files.keys() & ALL_FILES
    assert "docker" not in files["README.md"].decode().partition("## Deploy")[2].lower()


def test_docker_is_the_default(make_project: MakeProject) -> None:
    assert load_config(make_project(NOTE).root).export.targets == ("docker",)


def test_targets_that_run_an_image_include_the_dockerfile(make_project: MakeProject) -> None:
    project = make_project(NOTE, config=config("fly", "systemd", "fly"))
    assert load_config(project.root).export.targets == ("docker", "fly", "systemd")


def test_unknown_target_is_refused(make_project: MakeProject) -> None:
    result = make_project(NOTE, config=config("heroku")).run("build")
    assert result.exit_code == 2
    assert "export.targets[0]" in result.stderr
    assert "'cloud-run'" in result.stderr


def test_name_too_long_for_cloud_run_is_refused(make_project: MakeProject) -> None:
    result = make_project(NOTE, config=config("cloud-run", name="a" * 52)).run("build")
    assert result.exit_code == 2
    assert "the target 'cloud-run' allows 49 characters at most; drop 3" in result.stderr


def test_target_files_contain_no_text_and_no_secret(rendered: dict[str, bytes]) -> None:
    for name in ALL_FILES:
        text = rendered[name].decode()
        assert "anary" not in text, name
        assert not re.search(r"API_TOKENS\s*[:=]\s*[\"']?[\w-]{8,}", text), name


@pytest.mark.parametrize("name", ["no", "null", "a_b-c"])
def test_names_stay_strings_in_every_format(name: str, make_project: MakeProject) -> None:
    files = render(make_project, *(t for t in TARGETS if t != "procfile"), name=name)
    label = name.replace("_", "-")
    documents = {
        file: list(yaml.safe_load_all(content))
        for file, content in files.items()
        if file.endswith(".yaml")
    }
    assert documents["compose.yaml"][0]["name"] == name
    assert documents["render.yaml"][0]["services"][0]["name"] == name
    assert documents["cloud-run.yaml"][0]["metadata"]["name"] == label
    assert {document["metadata"]["name"] for document in documents["kubernetes.yaml"]} == {label}
    assert tomllib.loads(files["fly.toml"].decode())["app"] == label


def test_every_target_is_documented() -> None:
    page = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    template = (ROOT / "templates" / "foundry.toml.jinja").read_text(encoding="utf-8")
    for target in TARGETS:
        assert f"`{target}`" in page, target
        assert re.search(rf"(?m)^# .*\b{target}\b", template), target
    files = {name for names in FILES.values() for name in names} - {".dockerignore"}
    assert {name for name in files if f"`{name}`" not in page} == {"my_docs-2.service"}
    assert "`NAME.service`" in page


def test_dockerfile_passes_hadolint(folder: Path) -> None:
    check(installed("hadolint"), "--no-color", folder / "Dockerfile")


def test_dockerfile_installs_before_it_copies_the_code(rendered: dict[str, bytes]) -> None:
    steps = containers.parse(rendered["Dockerfile"].decode())
    install = next(i for i, (_, text) in enumerate(steps) if "uv pip install" in text)
    copies = [i for i, (keyword, _) in enumerate(steps) if keyword == "COPY"]
    before = [steps[i][1] for i in copies if i < install]
    assert before == ["requirements.txt ./"]
    users = [text for keyword, text in steps if keyword == "USER"]
    assert users == ["10001:10001"]


def test_compose_file_matches_the_compose_specification(folder: Path) -> None:
    validator = installed("check-jsonschema")
    check(validator, "--builtin-schema", "vendor.compose-spec", folder / "compose.yaml")


def test_kubernetes_resources_match_their_schemas(folder: Path) -> None:
    output = check(installed("kubernetes-validate"), "--strict", folder / "kubernetes.yaml")
    assert output.count("passed") == 3


def test_kubernetes_pod_is_confined(rendered: dict[str, bytes]) -> None:
    _, service, deployment = yaml.safe_load_all(rendered["kubernetes.yaml"])
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"] == labels
    (container,) = pod["spec"]["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["spec"]["securityContext"]["runAsNonRoot"]
    assert container["ports"] == [{"name": "http", "containerPort": 8123}]
    assert {"name": "my-docs-2"} in [source.get("secretRef") for source in container["envFrom"]]


def test_cloud_run_container_matches_the_schema_of_a_pod(folder: Path, tmp_path: Path) -> None:
    (service,) = yaml.safe_load_all((folder / "cloud-run.yaml").read_bytes())
    revision = service["spec"]["template"]["spec"]
    # Fields that Knative adds to a pod's specification, or does not require.
    del revision["containerConcurrency"], revision["timeoutSeconds"]
    revision["containers"][0]["name"] = "server"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": revision}
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(pod), encoding="utf-8")
    check(installed("kubernetes-validate"), "--strict", tmp_path / "pod.yaml")


@needs_systemd
def test_systemd_unit_verifies(folder: Path, tmp_path: Path) -> None:
    text = (folder / "my_docs-2.service").read_text(encoding="utf-8")
    assert "ExecStart=/opt/my_docs-2/bin/my_docs-2 serve" in text
    unit = tmp_path / "my_docs-2.service"
    unit.write_text(text.replace("/opt/my_docs-2/bin/my_docs-2", "/bin/true"), encoding="utf-8")
    # systemd only warns about unknown keys or values.
    assert check("systemd-analyze", "verify", "--man=no", unit) == ""


@pytest.mark.parametrize(
    ("written", "port"), [(None, 8123), ("", 8123), ("10000", 10000), (" 0 ", 0)]
)
def test_port_variable_overrides_the_settings(
    written: str | None,
    port: int,
    rendered: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "settings.json").write_bytes(rendered["my_docs_2/settings.json"])
    monkeypatch.delenv("PORT", raising=False)
    if written is not None:
        monkeypatch.setenv("PORT", written)
    assert settings(tmp_path / "settings.json").port == port


@pytest.mark.parametrize("written", ["65536", "-1", "http", "1e3", "tcp://10.0.0.1:80"])
def test_invalid_port_is_refused(
    written: str, rendered: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.json").write_bytes(rendered["my_docs_2/settings.json"])
    monkeypatch.setenv("PORT", written)
    with pytest.raises(ConfigurationError, match="PORT must be a whole number from 0 to 65535"):
        settings(tmp_path / "settings.json")


FLY_KEYS = {
    "": {"app", "kill_signal", "kill_timeout", "env", "http_service", "vm"},
    "http_service": {
        "internal_port",
        "force_https",
        "auto_stop_machines",
        "auto_start_machines",
        "min_machines_running",
        "concurrency",
        "checks",
    },
    "checks": {"method", "path", "grace_period", "interval", "timeout"},
}


def test_platform_files_have_known_keys(rendered: dict[str, bytes]) -> None:
    fly = tomllib.loads(rendered["fly.toml"].decode())
    assert fly.keys() == FLY_KEYS[""]
    assert fly["http_service"].keys() == FLY_KEYS["http_service"]
    assert fly["http_service"]["checks"][0].keys() == FLY_KEYS["checks"]
    assert fly["http_service"]["internal_port"] == int(fly["env"]["PORT"]) == 8123
    (service,) = yaml.safe_load(rendered["render.yaml"])["services"]
    assert {variable["key"] for variable in service["envVars"]} == {
        "API_TOKENS",
        "ALLOWED_HOSTS",
        "PUBLIC_URL",
    }
    assert json.loads(rendered["railway.json"])["build"]["builder"] == "DOCKERFILE"
    assert rendered["Procfile"].decode() == "web: python -m my_docs_2 serve --host 0.0.0.0\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kubernetes.yaml", b"a: [1\n"),
        ("compose.yaml", b"a: 1\n b: 2\n"),
        ("x.service", b"Type=exec\n"),
        ("railway.json", b"{"),
        ("fly.toml", b"a ="),
    ],
)
def test_files_that_do_not_parse_are_refused(name: str, content: bytes) -> None:
    with pytest.raises(RenderError, match=name):
        parse_back(name, content)
