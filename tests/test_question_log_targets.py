"""The path of the question log in deploy files: the README's example is writable everywhere."""

from pathlib import Path

import pytest
import yaml
from sharing import unformatted
from systems import needs_systemd
from test_targets import check, config, installed

from foundry.config.project import load_config
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server

FOLDER = "/var/lib/my_docs-2"
TARGETS = ("docker", "compose", "kubernetes", "systemd")
STORES = ("embedded", "qdrant", "pgvector")


def chosen(store: str = "embedded", *, log: bool = True) -> str:
    written = config(*TARGETS)
    if log:
        written = written.replace("[server]\n", "[server]\nquestion_log = true\n")
    return written if store == "embedded" else f'{written}[store]\nengine = "{store}"\n'


def render(folder: Path, written: str) -> dict[str, str]:
    (folder / "sources").mkdir(parents=True)
    (folder / "foundry.toml").write_text(written, encoding="utf-8")
    design = Design.of(load_config(folder), PROVIDERS["static"])
    with unformatted():
        files = plan_server(design, None, with_tests=False)
    names = ("Dockerfile", "README.md", ".env.example", "compose.yaml", "kubernetes.yaml")
    return {name: files[name].decode() for name in (*names, "my_docs-2.service")}


def test_deploy_files_have_the_example_path_only_with_a_log(tmp_path: Path) -> None:
    for name, text in render(tmp_path / "chosen", chosen()).items():
        if name != "Dockerfile":
            assert f"{FOLDER}/questions.jsonl" in text, name
        assert FOLDER in text
    for name, text in render(tmp_path / "other", chosen(log=False)).items():
        assert "/var/lib/my_docs-2" not in text, name


@pytest.mark.parametrize("store", STORES)
def test_compose_file_has_a_volume(tmp_path: Path, store: str) -> None:
    text = render(tmp_path / "project", chosen(store))["compose.yaml"]
    file = tmp_path / "compose.yaml"
    file.write_text(text)
    check(installed("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file)
    found = yaml.safe_load(text)
    assert found["services"]["server"]["volumes"] == [f"questions:{FOLDER}"]
    assert found["services"]["server"]["read_only"] is True
    engine = set() if store == "embedded" else {"engine"}
    assert found["volumes"].keys() == {"questions"} | engine


@pytest.mark.parametrize("store", STORES)
def test_kubernetes_has_a_volume_for_each_replica(tmp_path: Path, store: str) -> None:
    files = render(tmp_path / "project", chosen(store))
    file = tmp_path / "kubernetes.yaml"
    file.write_text(files["kubernetes.yaml"])
    check(installed("kubernetes-validate"), "--strict", file)
    found = [*yaml.safe_load_all(files["kubernetes.yaml"])]
    (server,) = [
        each for each in found if each["kind"] == "StatefulSet" and each["spec"]["replicas"] == 2
    ]
    (claim,) = server["spec"]["volumeClaimTemplates"]
    pod = server["spec"]["template"]["spec"]
    (mount,) = pod["containers"][0]["volumeMounts"]
    assert mount == {"name": claim["metadata"]["name"], "mountPath": FOLDER}
    # This group may write to the volume.
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"] == 10001
    services = {each["metadata"]["name"] for each in found if each["kind"] == "Service"}
    assert server["spec"]["serviceName"] in services
    assert "rollout restart statefulset/my-docs-2" in files["README.md"]


def test_image_has_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(render(tmp_path / "project", chosen())["Dockerfile"])
    check(installed("hadolint"), "--no-color", file)


def test_unit_has_a_state_directory(tmp_path: Path) -> None:
    lines = render(tmp_path / "project", chosen())["my_docs-2.service"].splitlines()
    assert {"StateDirectory=my_docs-2", "StateDirectoryMode=0700", "DynamicUser=yes"} <= {*lines}


@needs_systemd
def test_unit_verifies(tmp_path: Path) -> None:
    text = render(tmp_path / "project", chosen())["my_docs-2.service"]
    unit = tmp_path / "my_docs-2.service"
    unit.write_text(text.replace("/opt/my_docs-2/bin/my_docs-2", "/bin/true"), encoding="utf-8")
    assert check("systemd-analyze", "verify", "--man=no", unit) == ""
