"""A relay of TCP connections that can stall or drop them, like networks and engines."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Relay:
    """Forwards bytes to an address, until it is told to stop."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        """`target` is the path of a Unix socket, or a host and a port."""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: set[socket.socket] = set()
        self._passing: list[threading.Thread] = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._is_cut = False
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep connections open and accept new ones, but forward no bytes."""
        self._flowing.clear()
        try:
            yield
        finally:
            self._flowing.set()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Close all connections, and each new one immediately."""
        # With the lock, every accepted connection is among the ends, so `drop` closes it.
        with self._lock:
            self._is_cut = True
        self.drop()
        try:
            yield
        finally:
            self._is_cut = False

    def drop(self) -> None:
        """Close the current connections."""
        for end in list(self._ends):
            _shut(end)

    def close(self) -> None:
        """Close the listener and all connections."""
        _shut(self._listener)
        self._listener.close()
        self._accepting.join()
        self._flowing.set()
        self.drop()
        for passing in self._passing:
            passing.join()

    def _accept(self) -> None:
        while True:
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            with self._lock:
                if self._is_cut:
                    near.close()
                    continue
                far = self._connect()
                self._ends |= {near, far}
            passing = threading.Thread(target=self._pass_both, args=(near, far))
            self._passing.append(passing)
            passing.start()

    def _connect(self) -> socket.socket:
        if not isinstance(self._target, str):
            return socket.create_connection(self._target)
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(self._target)
        return connected

    def _pass_both(self, near: socket.socket, far: socket.socket) -> None:
        with near, far:
            back = threading.Thread(target=self._pass, args=(far, near))
            back.start()
            self._pass(near, far)
            back.join()
            self._ends -= {near, far}

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(1 << 16):
                self._flowing.wait()
                sink.sendall(piece)
        except OSError:
            pass
        _shut(source)
        _shut(sink)


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The other side has closed the connection.
        return
