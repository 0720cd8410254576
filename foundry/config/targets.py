"""[export] resolved: what a target brings with it, and what it cannot take."""

from pathlib import Path

from foundry.config.file import ExportSection, Target
from foundry.features.targets import TARGETS


def find_problems(section: ExportSection, name: str, project: Path) -> list[str]:
    """Return what is wrong with [export] for a server of this name, each with its key path."""
    problems = []
    for target in section.targets:
        longest = TARGETS[target].longest_name
        if longest and len(name) > longest:
            problems.append(
                f"project.name: {TARGETS[target].platform} takes {longest} characters at most;"
                f" drop {len(name) - longest}, or drop {target!r} from export.targets"
            )
    if section.templates and not (project / section.templates).is_dir():
        problems.append(f"export.templates: no such folder: {project / section.templates}")
    return problems


def resolve(written: tuple[Target, ...]) -> tuple[Target, ...]:
    """Return each target once; "docker" first where one of them runs the image."""
    image = ["docker"] if any(TARGETS[target].runs_image for target in written) else []
    return tuple(dict.fromkeys([*image, *written]))
