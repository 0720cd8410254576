"""Features that a system may lack or forbid: the only reasons for skipping tests.

The project's own requirements (its extras, PostgreSQL, Node, a browser) are installed with it, and
tests fail without them.
"""

import os
import platform
import resource
import shutil
import stat
import sys
from pathlib import Path

import pytest
from processes import is_possible

ROOT = Path(__file__).parent.parent

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="this system has no /proc"
)
needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="this system's C library is not glibc"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="this system has no git")
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="this system has no ssh")
needs_repository = pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(),
    reason="this system has no git, or this is no clone",
)
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="this system has no systemd-analyze"
)


def without_rights() -> tuple[str, ...]:
    """Return the start of a command that runs with its user's permissions, without root's.

    The user stays the same, so that the interpreter can run wherever it is installed.
    """
    if os.geteuid() != 0:
        return ()
    lost = "-dac_override,-dac_read_search"
    prefix = ("setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}")
    if not is_possible(*prefix, "true"):
        pytest.skip("root's rights cannot be given up here")
    return prefix


def as_another_user() -> tuple[str, ...]:
    """Return the start of a command that runs as another user id, in a namespace."""
    prefix = ("unshare", "--user", "--map-user=65534", "--map-group=65534")
    if not is_possible(*prefix, sys.executable, "-c", ""):
        pytest.skip("this system permits no namespaces of users")
    return prefix


def with_watches(watches: int, instances: int = 128) -> tuple[str, ...]:
    """Return the start of a command that may set at most this many folder watches."""
    limits = {"watches": watches, "instances": instances}
    set_limits = "".join(
        f"echo {most} > /proc/sys/user/max_inotify_{name} && " for name, most in limits.items()
    )
    prefix = ("unshare", "--user", "--map-root-user", "sh", "-c", set_limits + 'exec "$@"', "sh")
    if not is_possible(*prefix, "true"):
        pytest.skip("this system permits no namespaces of users")
    return prefix


def make_device(path: Path) -> None:
    """Make a device that returns zeros endlessly; only root can."""
    try:
        os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this system lets nobody make devices")


def need_namespaces(*trial: str | Path) -> None:
    """Skip a test unless this is root, and `unshare` succeeds with the arguments `trial`."""
    if os.geteuid() != 0 or not is_possible("unshare", *trial):
        pytest.skip("file trees and networks of their own need root, and a system that permits it")


def open_many_files(count: int) -> None:
    """Raise this process's limit to this many open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    except ValueError:
        pytest.skip(f"this system does not let a process open {count:,} files")
