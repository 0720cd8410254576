"""A project's own templates: used only with --trust, and only to replace existing ones."""

from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject, Project

pytestmark = pytest.mark.usefixtures("formatted_once")

SMALL = CONFIG + "[server]\nmcp = false\nchat = false\npage = false\n"
OWN = SMALL + '[export]\ntemplates = "mine"\n'
NOTE = {"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"}
README = "# {{ title | markdown }}, our way\n"


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    project = make_project({**NOTE, "mine/README.md.jinja": README}, config=OWN)
    project.succeed("build", "--quiet")
    return project


def refused(project: Project, *arguments: str, code: int = 1) -> str:
    result = project.run("export", *arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert not (project.root / "dist").exists()
    return result.stderr


def test_trusted_template_replaces_foundrys(project: Project) -> None:
    exported = project.export("--trust")
    assert (exported / "README.md").read_text() == "# notes, our way\n"
    assert project.succeed("export", "--check", "--trust").exit_code == 0


def test_without_trust_nothing_runs(project: Project) -> None:
    canary = project.root / "canary"
    attack = f"{{{{ cycler.__init__.__globals__.os.mkdir('{canary}') }}}}"
    (project.root / "mine" / "README.md.jinja").write_text(attack)
    for arguments in ((), ("--check",)):
        said = refused(project, *arguments, code=4)
        assert "--trust" in said
        assert "export.templates" in said
    # Queries use Foundry's own templates, so the project's templates are not run.
    assert project.ask("seal")["results"]
    assert not canary.exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("README.jinja", "does not replace any template"),
        ("package/x.py.jinja", "does not replace any template"),
    ],
)
def test_template_that_replaces_nothing_is_refused(
    name: str, expected: str, project: Project
) -> None:
    path = project.root / "mine" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    said = refused(project, "--trust")
    assert expected in said
    assert "package/search.py.jinja" in said


@pytest.mark.parametrize("target", ["/etc/passwd", "../foundry.toml", "..", "nowhere"])
def test_link_that_leaves_the_folder_is_refused(target: str, project: Project) -> None:
    path = project.root / "mine" / "Dockerfile.jinja"
    path.symlink_to(target)
    said = refused(project, "--trust")
    assert "leads out of the templates folder" in said or "No such file" in said
    assert "root:" not in said


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff", "is not valid UTF-8"),
        (b"{{ title }}", "without an encoder"),
        (b"{{ nothing | toml }}", "nothing"),
        (b"{% if %}", "line 1"),
    ],
)
def test_template_that_cannot_be_rendered_is_refused(
    content: bytes, expected: str, project: Project
) -> None:
    (project.root / "mine" / "README.md.jinja").write_bytes(content)
    assert expected in refused(project, "--trust")


@pytest.mark.slow
def test_python_of_an_own_template_is_formatted_and_checked(project: Project) -> None:
    path = project.root / "mine" / "package" / "custom.py.jinja"
    path.parent.mkdir()
    path.write_text('"""Ours."""\n\nfrom .hooks import Hooks\n\nHOOKS = nothing\n')
    assert "ruff rejected" in refused(project, "--trust")
    path.write_text('"""Ours."""\n\nfrom .hooks import Hooks\n\nHOOKS=Hooks( )\n')
    exported = project.export("--trust")
    assert (exported / "notes" / "custom.py").read_text().endswith("\nHOOKS = Hooks()\n")


def test_dependency_that_is_not_in_the_lock_is_refused(project: Project) -> None:
    from foundry.files import templates_folder

    text = (templates_folder() / "server" / "pyproject.toml.jinja").read_text()
    text = text.replace("dependencies = [\n", 'dependencies = [\n    "leftpad",\n', 1)
    (project.root / "mine" / "pyproject.toml.jinja").write_text(text)
    assert "leftpad" in refused(project, "--trust")


def test_missing_folder_is_reported_with_its_key(project: Project) -> None:
    (project.root / "foundry.toml").write_text(OWN.replace('"mine"', '"nowhere"'))
    said = refused(project, "--trust", code=2)
    assert "export.templates: no such folder" in said
    assert str(Path("nowhere")) in said
