"""Connections to PostgreSQL that give up: neither a frozen engine nor a lost network is waited for.

`statement_timeout` ends what the engine works on, but an engine that is frozen ends nothing, and a
client that waits for its answer would wait for ever.
"""

import math
import time
from collections.abc import Callable, Generator
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool

from .settings import StoreSettings

CONNECTIONS = 16
"""Of one process at most; further calls wait for one of them."""

GRACE = 0.5
"""Seconds after the timeout, in which the engine itself may say that it was too slow."""

Answer = TypeVar("Answer")


class PatientConnection(psycopg.Connection[Any]):
    """A connection of which every exchange ends in time. Raises TimeoutError, and is closed then.

    Attributes:
        patience: Seconds that one exchange may take.
    """

    patience = math.inf

    @classmethod
    def open(cls, address: str, settings: StoreSettings) -> Self:
        """Open a connection of its own."""
        opened = cls.connect(address, **_options(settings))
        opened.patience = settings.timeout + GRACE
        return opened

    def wait(self, gen: PQGen[Answer], *how: Any, **named: Any) -> Answer:
        """Consume what psycopg does on this connection, with an eye on the clock."""
        try:
            return super().wait(_limited(gen, time.monotonic() + self.patience), *how, **named)
        except TimeoutError:
            # Half an answer may still come in, and nobody will read it.
            self.close()
            raise


class Connections:
    """The connections of one process to one database, each for one exchange at a time."""

    def __init__(self, address: str, settings: StoreSettings) -> None:
        """Nothing is connected before the first call."""

        def be_patient(connection: PatientConnection) -> None:
            connection.patience = settings.timeout + GRACE

        self._pool = ConnectionPool(
            address,
            connection_class=PatientConnection,
            kwargs={**_options(settings), "autocommit": True},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=settings.timeout,
            configure=be_patient,
            open=False,
        )

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Return what a call answers that only reads, on a connection that works.

        Connections that stood idle may have been lost, as when the engine was restarted. It is
        found out by using them, because asking each of them first would double every search.
        """
        self._pool.open()
        with self._pool.connection() as connection:
            try:
                return call(connection)
            except psycopg.OperationalError:
                if not connection.broken:
                    raise
        self._pool.check()
        with self._pool.connection() as connection:
            return call(connection)

    def close(self) -> None:
        """Close them all."""
        self._pool.close()


def _options(settings: StoreSettings) -> dict[str, Any]:
    return {
        "connect_timeout": max(2, round(settings.timeout)),
        "options": f"-c statement_timeout={int(settings.timeout * 1000)}",
        "application_name": "foundry-server",
    }


def _limited(gen: PQGen[Answer], deadline: float) -> Generator[Any, Any, Answer]:
    """Yield the same generator, until the deadline."""
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready and time.monotonic() > deadline:
                raise TimeoutError("no answer came")
            state = gen.send(ready)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
