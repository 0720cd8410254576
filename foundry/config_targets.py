"""[export] resolved: what a target brings with it, and what it cannot take."""

from pathlib import Path

from foundry.config_file import ExportSection, Target

_WITHOUT_IMAGE: frozenset[Target] = frozenset({"systemd", "procfile"})
_CLOUD_RUN_NAME_LENGTH = 49


def find_problems(section: ExportSection, name: str, project: Path) -> list[str]:
    """What is wrong with [export] for a server of this name, each with its key path."""
    problems = []
    surplus = len(name) - _CLOUD_RUN_NAME_LENGTH
    if "cloud-run" in section.targets and surplus > 0:
        problems.append(
            f"project.name: Cloud Run takes {_CLOUD_RUN_NAME_LENGTH} characters at most;"
            f" drop {surplus}, or drop 'cloud-run' from export.targets"
        )
    if section.templates and not (project / section.templates).is_dir():
        problems.append(f"export.templates: no such folder: {project / section.templates}")
    return problems


def resolve(written: list[Target]) -> tuple[Target, ...]:
    """Each target once; "docker" first where one of them runs the image."""
    image: list[Target] = [] if _WITHOUT_IMAGE.issuperset(written) else ["docker"]
    return tuple(dict.fromkeys([*image, *written]))
