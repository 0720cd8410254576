"""Runs this process's code in a fork of `warm_python`: `hand_over.py ADDRESS CODE ...`.

It is started for nearly every process of the tests, so it imports as little as possible: the
imports of `socket`, `signal` and `json` take twice as long as starting Python.
"""

import _signal as signal
import _socket as socket
import marshal
import os
import sys

HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STREAMS = (0, 1, 2)


def hand_over(address: str, arguments: list[str]) -> int:
    """Return the exit code of the fork; if a signal ended it, end by the same signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    request = marshal.dumps((arguments, dict(os.environ), os.getcwd(), os.umask(0)))  # noqa: PTH109
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in STREAMS)
    handed = (socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)
    connection.sendmsg([len(request).to_bytes(8)], [handed])
    connection.sendall(request)
    child = read_number(connection)
    for number in HANDED_ON:
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
    code = read_number(connection)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def read_number(connection: socket.socket) -> int:
    """Read a line with a number. Raises ValueError if the other side has closed."""
    digits = b""
    while (digit := connection.recv(1)) not in b"\n":
        digits += digit
    return int(digits)


if __name__ == "__main__":
    os._exit(hand_over(sys.argv[1], sys.argv[2:]))
