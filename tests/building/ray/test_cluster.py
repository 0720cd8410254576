"""Ray's errors, translated by Foundry; tests/test_ray_build.py starts a real cluster."""

import sys
from types import SimpleNamespace

import pytest

from foundry.building.ray.cluster import Cluster
from foundry.errors import BuildError

SAME = "install the same Foundry, Python and libraries on every node, and build again"


class RayError(Exception):
    """An error of Ray itself."""


class RayTaskError(RayError):
    """An error of a task, with its traceback as text."""


@pytest.mark.parametrize(
    ("error", "said", "hint"),
    [
        (
            RayTaskError("Traceback:\n  File x\nModuleNotFoundError: No module named\t'numpy'\n"),
            "Ray: ModuleNotFoundError: No module named 'numpy'",
            SAME,
        ),
        (
            RayError("the object store\nis full"),
            "Ray: the object store is full",
            "build again: finished work is kept",
        ),
        (ConnectionError(), "Ray: ConnectionError", "build again: finished work is kept"),
        (RayError("a" * 500), f"Ray: {'a' * 400}", "build again: finished work is kept"),
    ],
)
def test_errors_of_ray_have_a_hint(
    error: Exception, said: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_value: object) -> None:
        raise error

    ray = SimpleNamespace(
        exceptions=SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError),
        init=lambda *_, **__: None,
        nodes=lambda: [],
        put=fail,
        shutdown=lambda: None,
        util=SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1"),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    with Cluster("auto", None) as cluster, pytest.raises(BuildError) as caught:
        cluster.put(b"a model")
    assert (caught.value.message, caught.value.hint) == (said, hint)
