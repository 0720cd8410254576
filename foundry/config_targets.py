"""[export] targets resolved: what a target brings with it, and what it cannot take."""

from foundry.config_file import Target

_WITHOUT_IMAGE: frozenset[Target] = frozenset({"systemd", "procfile"})
_CLOUD_RUN_NAME_LENGTH = 49


def find_problems(targets: list[Target], name: str) -> list[str]:
    """What is wrong with the targets for a server of this name, each with its key path."""
    surplus = len(name) - _CLOUD_RUN_NAME_LENGTH
    if "cloud-run" in targets and surplus > 0:
        return [
            f"project.name: Cloud Run takes {_CLOUD_RUN_NAME_LENGTH} characters at most;"
            f" drop {surplus}, or drop 'cloud-run' from export.targets"
        ]
    return []


def resolve(written: list[Target]) -> tuple[Target, ...]:
    """Each target once; "docker" first where one of them runs the image."""
    image: list[Target] = [] if _WITHOUT_IMAGE.issuperset(written) else ["docker"]
    return tuple(dict.fromkeys([*image, *written]))
