"""A Ray cluster that a build joins, without changing its configuration."""

import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from typing import Any, Self

from foundry.errors import BuildError, RequestError
from foundry.files import MODEL_FOLDER

Reference = Any
"""Ray's reference to a result, which may still be computed, on any node."""

ADDRESS_VARIABLE = "RAY_ADDRESS"

RETRIES = 5
"""How often a task is restarted if its node dies."""

REACH_SECONDS = 10.0
"""Timeout of the first connection to a cluster."""

WITHOUT_NODES_SECONDS = 60.0
"""How long to wait for nodes if none are left."""

CHECK_SECONDS = 5.0

_MEANT_BY_SHELLS = re.compile(r"""[\s'"\\$`&|;<>()*?\[\]{}~!#]""")

SAME_EVERYWHERE = "install the same Foundry, Python and libraries on every node, and build again"

_JOIN = (
    "this machine must be one of its nodes: ray start --address={address} --num-cpus=0;"
    " it needs the cluster's Python and Ray, and, if the cluster requires a token, its"
    " RAY_AUTH_MODE and RAY_AUTH_TOKEN"
)


class Cluster:
    """A cluster, joined on first use.

    `address` is HOST:PORT, or `auto` for the cluster of this machine; None uses RAY_ADDRESS. `jobs`
    is the number of concurrent tasks; None uses all slots of the cluster.
    """

    def __init__(self, address: str | None, jobs: int | None) -> None:
        self.address = address or os.environ.get(ADDRESS_VARIABLE, "").strip()
        if not self.address:
            raise RequestError(
                "--engine ray: no cluster address is given",
                hint=f"give HOST:PORT of its head node in --ray-address or {ADDRESS_VARIABLE}",
            )
        self._jobs = jobs
        self._held = ExitStack()
        self._ray: Any = None
        self._functions: dict[Callable[..., object], Any] = {}

    def submit(
        self,
        function: Callable[..., object],
        *arguments: object,
        processors: int = 1,
        threads: int | None = None,
    ) -> Reference:
        """Run a function of an installed module on a node; return a reference to its result.

        If `threads` is given, it runs in a process whose libraries use that many threads.
        """
        ray = self._opened()
        if function not in self._functions:
            self._functions[function] = ray.remote(function)
        options: dict[str, Any] = {"num_cpus": processors, "max_retries": RETRIES}
        if threads is not None:
            options["runtime_env"] = {"env_vars": {"OMP_NUM_THREADS": str(threads)}}
        with _explaining(ray):
            return self._functions[function].options(**options).remote(*arguments)

    def put(self, value: object) -> Reference:
        """Store a value, which nodes read with `get_here`."""
        ray = self._opened()
        with _explaining(ray):
            return ray.put(value)

    def wait(self, references: Sequence[Reference], *, at_once: bool = False) -> list[Reference]:
        """Return the references that are ready: at least one, unless `at_once`.

        Raises BuildError if no nodes are left.
        """
        ray = self._opened()
        limit = None
        while references:
            with _explaining(ray):
                ready, _ = ray.wait(
                    [*references],
                    num_returns=len(references) if at_once else 1,
                    timeout=0 if at_once else CHECK_SECONDS,
                    fetch_local=False,
                )
            if ready or at_once:
                return list(ready)
            if self._all_processors():
                limit = None
            elif limit is None:
                limit = time.monotonic() + WITHOUT_NODES_SECONDS
            elif time.monotonic() > limit:
                raise BuildError(
                    f"{self.address}: the cluster has no working node left",
                    hint="start nodes and build again; finished work is kept",
                )
        return []

    def get(self, reference: Reference) -> Any:
        """Wait for a result and return it. Raises BuildError if it cannot be computed."""
        ray = self._opened()
        self.wait([reference])
        with _explaining(ray):
            return ray.get(reference)

    def slots(self) -> int:
        """Return how many single-processor tasks can run at a time."""
        found = sum(self._all_processors())
        return max(1, min(found, self._jobs or found))

    def least_processors(self) -> int:
        """Return the number of processors of the smallest node."""
        return min(self._all_processors(), default=1)

    def close(self) -> None:
        """Leave the cluster, which ends tasks in progress."""
        self._held.close()
        self._ray = None

    def _all_processors(self) -> list[int]:
        ray = self._opened()
        with _explaining(ray):
            nodes = ray.nodes()
        counts = [int(node["Resources"].get("CPU", 0)) for node in nodes if node["Alive"]]
        return [count for count in counts if count]

    def _opened(self) -> Any:
        if self._ray is None:
            # Ray adds this process's working folder to Python's path on all nodes, and reports dead
            # nodes on standard output. So the working folder must hold neither programs nor
            # documents, and the output is redirected.
            self._held.enter_context(redirect_stdout(sys.stderr))
            with chdir(MODEL_FOLDER):
                self._ray = self._join()
        return self._ray

    def _join(self) -> Any:
        if "://" in self.address:
            raise BuildError(
                f"{self.address}: this machine cannot join a cluster at this address",
                hint="give HOST:PORT of its head node; " + _JOIN.format(address="HOST:PORT"),
            )
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self._reach()
        import ray

        self._held.callback(ray.shutdown)
        with _explaining(ray, hint=_JOIN.format(address=self.address)):
            ray.init(self.address, log_to_driver=False, logging_level="error")
        with _explaining(ray):
            _check_interpreter(ray)
        return ray

    def _reach(self) -> None:
        """Raise BuildError if nothing listens at the address.

        Ray itself would take long to notice, and then end this process.
        """
        if self.address == "auto":
            return
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            raise BuildError(
                f"{self.address}: no Ray cluster answers there: {error}",
                hint="give HOST:PORT of its head node in --ray-address or RAY_ADDRESS",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _check_interpreter(ray: Any) -> None:
    """Raise BuildError if this machine is a node that cannot start workers.

    Ray starts workers through a shell, with the interpreter's path unquoted, and retries forever.
    Paths on other machines are not known here.
    """
    here = ray.util.get_node_ip_address()
    runs_tasks = any(
        node["Alive"] and node["NodeManagerAddress"] == here and node["Resources"].get("CPU")
        for node in ray.nodes()
    )
    if runs_tasks and _MEANT_BY_SHELLS.search(sys.executable):
        raise BuildError(
            f"{sys.executable}: Ray starts no tasks if the path has spaces or shell characters",
            hint="install Foundry into an environment whose path has none, or start Ray and Foundry"
            " through a link without them",
        )


def get_here(reference: Reference) -> Any:
    """Return, on a node, a value that was stored with `put`."""
    import ray

    return ray.get(reference)


@contextmanager
def _explaining(ray: Any, hint: str | None = None) -> Iterator[None]:
    """Turn errors of Ray into BuildError."""
    try:
        yield
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        if isinstance(error, ray.exceptions.RayTaskError):
            # The message quotes a traceback, whose last line is the error on the node.
            lines, hint = lines[-1:], SAME_EVERYWHERE
        said = " ".join(" ".join(lines).split())[:400]
        raise BuildError(
            f"Ray: {said}", hint=hint or "build again: finished work is kept"
        ) from None
