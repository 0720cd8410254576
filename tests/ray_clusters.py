"""Ray clusters of several nodes on loopback, each in its own process.

Run as a script, it starts a head node that runs no tasks, prints its address, and executes commands
from standard input, one per line: `add` starts a node of one processor, and `kill` kills the oldest
node, as a power cut would. The script ends when its input does.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from waiting import SECONDS, within

VARIABLES = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
    # Ray's own heartbeat; by default, the death of a node is noticed after some ten seconds.
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_initial_delay_ms": "500",
}


class RunningCluster:
    """A cluster, and the command and the environment of builds that use it."""

    def __init__(self, process: "subprocess.Popen[str]", python: str) -> None:
        self.foundry = [python, "-m", "foundry"]
        self._process = process
        self._nodes = 0
        self.address = self._answer()
        self.variables = {**VARIABLES, "RAY_ADDRESS": self.address}

    def have_nodes(self, count: int) -> None:
        """Start nodes that run tasks until there are this many, and wait until they are ready."""
        while self._nodes < count:
            self._obey("add")
            self._nodes += 1

    def kill_node(self) -> list[int]:
        """Kill the oldest node that runs tasks; returns the workers that were reading for it."""
        self._nodes -= 1
        return [int(worker) for worker in self._obey("kill").split()]

    def _obey(self, command: str) -> str:
        assert self._process.stdin
        print(command, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout
        with within(self._process):
            for line in self._process.stdout:
                if line.startswith("> "):
                    return line.removeprefix("> ").strip()
        raise EOFError("the cluster has ended")


@contextmanager
def ray_cluster(
    folder: Path, variables: Mapping[str, str] | None = None, python: str | Path = sys.executable
) -> Iterator[RunningCluster]:
    """Run a cluster without nodes that run tasks; `variables` are for the processes of its nodes.

    They run `python` through a link, because Ray starts nothing if a path has a space.
    """
    environment = folder / "environment"
    environment.symlink_to(Path(python).parent.parent)
    command = str(environment / "bin" / Path(python).name)
    with (folder / "cluster.log").open("w") as log:
        process = subprocess.Popen(
            [command, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **VARIABLES, **(variables or {})},
        )
        try:
            yield RunningCluster(process, command)
        finally:
            process.communicate(timeout=SECONDS)


def main() -> None:
    """Start the head node, and execute commands."""
    # The folder contains sockets, whose paths must be short.
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ["RAY_TMPDIR"] = folder
        Path(folder, "ray").mkdir()
        from ray.cluster_utils import Cluster

        unused = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        head = {"num_cpus": 0, **unused}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        nodes = []
        answer(cluster.address)
        for line in sys.stdin:
            if line.strip() == "add":
                nodes.append(cluster.add_node(num_cpus=1))
                answer("")
            else:
                node = nodes.pop(0)
                (raylet,) = node.all_processes["raylet"]
                workers = [pid for pid in descendants(raylet.process.pid) if is_worker(pid)]
                cluster.remove_node(node, allow_graceful=False)
                answer(" ".join(map(str, workers)))
        cluster.shutdown()


def descendants(process: int) -> Iterator[int]:
    """Yield the ids of all descendants of a process."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                yield child
                yield from descendants(child)


def is_worker(process: int) -> bool:
    """Return whether a process is one of Foundry's sandboxed workers."""
    with suppress(OSError):
        return b"readers/sandbox/worker.py" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def answer(text: str) -> None:
    """Write a line for the parent process."""
    sys.stdout.write(f"> {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
