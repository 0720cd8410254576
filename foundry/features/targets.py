"""Declares the deployment platforms of exports."""

from typing import ClassVar

from foundry.features.feature import Feature


class Target(Feature):
    """A platform.

    Attributes:
        runs_image: It includes the Dockerfile.
        is_open: It listens where other machines can reach it, so callers need tokens.
        longest_name: Its limit for a server's name, in characters; 0 for none.
    """

    choice = '[export] targets, "{name}"'
    runs_image: ClassVar[bool] = True
    is_open: ClassVar[bool] = True
    longest_name: ClassVar[int] = 0


class Docker(Target):
    """A container image."""

    name = "docker"
    files = ("Dockerfile", ".dockerignore")
    contents = (("Dockerfile", "the container image"),)
    section = "docker"


class Compose(Target):
    """Docker Compose."""

    name = "compose"
    files = ("compose.yaml",)
    contents = (("compose.yaml", "the container, for Docker Compose"),)
    section = "compose"
    environment = ("compose",)


class Kubernetes(Target):
    """Kubernetes."""

    name = "kubernetes"
    files = ("kubernetes.yaml",)
    contents = (("kubernetes.yaml", "ConfigMap, Service and Deployment"),)
    section = "kubernetes"


class Fly(Target):
    """Fly.io."""

    name = "fly"
    files = ("fly.toml",)
    contents = (("fly.toml", "for Fly.io"),)
    section = "fly"


class Render(Target):
    """Render."""

    name = "render"
    files = ("render.yaml",)
    contents = (("render.yaml", "for Render"),)
    section = "render"


class Railway(Target):
    """Railway."""

    name = "railway"
    files = ("railway.json",)
    contents = (("railway.json", "for Railway"),)
    section = "railway"


class CloudRun(Target):
    """Google Cloud Run."""

    name = "cloud-run"
    longest_name = 49
    files = ("cloud-run.yaml",)
    contents = (("cloud-run.yaml", "for Google Cloud Run"),)
    section = "cloud_run"


class Systemd(Target):
    """A sandboxed systemd unit."""

    name = "systemd"
    runs_image = False
    is_open = False
    files = ("name.service",)
    contents = (("{name}.service", "the unit for systemd"),)
    section = "systemd"


class Procfile(Target):
    """Heroku, Dokku and others, without a container."""

    name = "procfile"
    runs_image = False
    files = ("Procfile",)
    contents = (("Procfile", "for Heroku, Dokku and others"),)
    section = "procfile"


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Docker(),
        Compose(),
        Kubernetes(),
        Fly(),
        Render(),
        Railway(),
        CloudRun(),
        Systemd(),
        Procfile(),
    )
}
"""Targets by name in `[export] targets`."""
