"""Restrictions of a worker."""

import socket
import subprocess
import sys

import pytest
import warm_python
from sharing import READERS

ATTEMPTS = {
    "socket": "import socket; socket.socket()",
    "name": "import socket; socket.getaddrinfo('localhost', 80)",
    "program": "import subprocess; subprocess.run(['true'])",
    "fork": "import os; os.fork()",
    "write": "open('/tmp/canary', 'w')",
    "append": "import os; os.open('/tmp/canary', os.O_WRONLY | os.O_CREAT)",
    "read": "open('/etc/passwd')",
    "remove": "import os; os.remove('/tmp/canary')",
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_workers_may_not(attempt: str) -> None:
    program = (
        "from foundry.readers.sandbox import worker\n"
        f"import socket, subprocess\nworker._refuse()\ntry:\n  {attempt}\n"
        "except PermissionError as error:\n  print('refused', error)\n"
    )
    done = subprocess.run(
        [*warm_python.command(*READERS), program], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("refused a reader may not"), done.stderr


def test_workers_leave_the_network_if_permitted() -> None:
    program = (
        "from foundry.readers.sandbox import worker\nimport socket\nworker._leave_network()\n"
        "print(sorted(name for _, name in socket.if_nameindex()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    # Where the system permits no namespaces, the audit hook alone refuses sockets.
    assert done.stdout.strip() in {"['lo']", str(sorted(n for _, n in socket.if_nameindex()))}
