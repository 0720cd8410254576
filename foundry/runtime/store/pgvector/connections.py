"""Connections to PostgreSQL with a client-side timeout, and its errors.

The server enforces `statement_timeout`, which does not help if the server hangs or the network
fails: the client would wait forever.
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

CONNECTIONS = 16  # Pool size of each process; further calls wait.
GRACE = 0.5  # Seconds added to the timeout, so that the server can report it first.

Answer = TypeVar("Answer")


class TimedConnection(psycopg.Connection[Any]):
    """A connection that closes itself and raises TimeoutError if an exchange takes too long.

    Attributes:
        seconds: Timeout of one exchange.
    """

    seconds = math.inf

    @classmethod
    def open(cls, address: str, settings: StoreSettings) -> Self:
        """Open a connection outside the pool."""
        opened = cls.connect(address, **_options(settings))
        opened.seconds = settings.timeout + GRACE
        return opened

    def wait(self, gen: PQGen[Answer], *how: Any, **named: Any) -> Answer:
        """Run the generator of an exchange, as psycopg does, with a deadline."""
        try:
            return super().wait(_limited(gen, time.monotonic() + self.seconds), *how, **named)
        except TimeoutError:
            # The connection cannot be reused, because the rest of the reply may still arrive.
            self.close()
            raise


class Connections:
    """The connection pool of one process."""

    def __init__(self, address: str, settings: StoreSettings) -> None:
        """Create the pool; it connects on the first call."""

        def set_timeout(connection: TimedConnection) -> None:
            connection.seconds = settings.timeout + GRACE

        self._pool = ConnectionPool(
            address,
            connection_class=TimedConnection,
            kwargs={**_options(settings), "autocommit": True},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=settings.timeout,
            configure=set_timeout,
            open=False,
        )

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Return the result of a read-only call on a working connection.

        Idle connections may be broken, for example after a restart of the server. A call that fails
        because of this is repeated: checking each connection first would double a search's time.
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
        """Close all connections."""
        self._pool.close()


@contextmanager
def translated(version: str) -> Iterator[None]:
    """Translate errors of PostgreSQL to StoreError."""
    try:
        yield
    except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
        raise missing_version(version) from error
    except (errors.QueryCanceled, errors.LockNotAvailable, TimeoutError) as error:
        raise StoreSlowError(
            f"PostgreSQL did not respond in time: {_first_line(error)}",
            hint="check its load, or increase store.timeout_ms",
        ) from None
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise StoreUnreachableError(
            f"PostgreSQL cannot be reached: {_first_line(error)}",
            hint="start it, or correct DATABASE_URL",
        ) from None
    except psycopg.Error as error:
        raise StoreError(
            f"PostgreSQL rejected a query: {_first_line(error)}",
            hint="check that the role of DATABASE_URL may read the schema",
        ) from None


def missing_version(version: str) -> VersionMissingError:
    """Return the error for a version that is missing or incomplete."""
    return VersionMissingError(
        f"PostgreSQL does not have index {version}, or has only part of it",
        hint="publish it with foundry publish, or deploy the export of the published version",
    )


def check_address() -> str:
    """Return DATABASE_URL if it is valid. Raises ConfigurationError."""
    address = read_address("DATABASE_URL", "postgresql://reader@db.example.com/search")
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # The library's error quotes the address, which may contain a password.
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
    """Run a generator of psycopg; raise TimeoutError if it has not ended by the deadline."""
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready and time.monotonic() > deadline:
                raise TimeoutError("no response")
            state = gen.send(ready)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
