"""Connections to PostgreSQL that give up, and what its errors mean.

Neither a frozen engine nor a lost network is waited for. `statement_timeout` ends what the engine
works on, but an engine that is frozen ends nothing, and a client that waits for its answer would
wait for ever.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from ...errors import ConfigurationError
from ..settings import StoreSettings, read_address
from ..store import StoreError, StoreSlowError, StoreUnreachableError, VersionMissingError

CONNECTIONS = 16  # In each process; further calls wait for one of them.
GRACE = 0.5  # Seconds after the timeout, in which the engine itself may say that it was too slow.

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
        """Return the result of a call that only reads, on a working connection.

        Connections that were idle may have been lost, as when the engine was restarted. It is
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


@contextmanager
def translated(version: str) -> Iterator[None]:
    """Raise what goes wrong in PostgreSQL as StoreError."""
    try:
        yield
    except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
        raise missing_version(version) from error
    except (errors.QueryCanceled, errors.LockNotAvailable, TimeoutError) as error:
        raise StoreSlowError(
            f"PostgreSQL did not answer in time: {_first_line(error)}",
            hint="see what it is busy with, or set a longer store.timeout_ms",
        ) from None
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise StoreUnreachableError(
            f"PostgreSQL cannot be reached: {_first_line(error)}",
            hint="start it, or correct DATABASE_URL",
        ) from None
    except psycopg.Error as error:
        raise StoreError(
            f"PostgreSQL refused a query: {_first_line(error)}",
            hint="check that the role of DATABASE_URL may read the schema",
        ) from None


def missing_version(version: str) -> VersionMissingError:
    """Return the error of a version that is not there, or not whole."""
    return VersionMissingError(
        f"PostgreSQL does not hold index {version}, or not all of it",
        hint="publish it: foundry publish; or deploy the export of the version that is there",
    )


def check_address() -> str:
    """Parse DATABASE_URL. Raises ConfigurationError."""
    address = read_address("DATABASE_URL", "postgresql://reader@db.example.com/search")
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # What the library says quotes the address, which may hold a password.
        raise ConfigurationError(
            "DATABASE_URL is not the address of a PostgreSQL database",
            hint="write it as postgresql://user:password@host:port/database",
        ) from None
    return address


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


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
