"""The ProxyCommand of ssh: `python through_relay.py RELAY_PORT HOST PORT`.

The program connects its standard streams through the relay. It does not import Foundry, so that it
starts within a few milliseconds.
"""

import os
import socket
import sys
import threading

BLOCK_BYTES = 65_536


def main() -> int:
    """Copy bytes until the host closes the connection; return 1 if the relay does not connect."""
    relay, host, port = sys.argv[1:]
    name = host.encode("ascii", "replace")
    with socket.create_connection(("127.0.0.1", int(relay))) as connection:
        connection.sendall(b"\5\1\0")
        connection.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + int(port).to_bytes(2, "big"))
        with connection.makefile("rb") as answers:
            if answers.read(12)[3:4] != b"\0":
                return 1
            threading.Thread(target=_send, args=(connection,), daemon=True).start()
            while content := answers.read1(BLOCK_BYTES):
                os.write(1, content)
    return 0


def _send(connection: socket.socket) -> None:
    while content := os.read(0, BLOCK_BYTES):
        connection.sendall(content)
    connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
