"""The lines of the log."""

import json
import logging
import os
import sys
from typing import Any

import pytest

from workshop.errors import ConfigurationError
from workshop.web.process import JsonHandler, configure_logging


def record(message: str, *arguments: object, **options: Any) -> logging.LogRecord:
    made = logging.LogRecord("server", logging.INFO, "", 0, message, arguments, None)
    made.created = 1_700_000_000.5
    for name, value in options.items():
        setattr(made, name, value)
    return made


def test_a_line_has_time_level_logger_message_and_fields() -> None:
    line = JsonHandler(1).format(record("said %d", 1, fields={"status": 200}))
    assert line == (
        '{"time":"2023-11-14T22:13:20.500Z","level":"info","logger":"server",'
        '"message":"said 1","status":200}'
    )


def test_a_traceback_is_a_field() -> None:
    try:
        raise RuntimeError("broken\nin two")
    except RuntimeError:
        made = record("failed", exc_info=sys.exc_info())
    line = JsonHandler(1).format(made)
    assert "\n" not in line
    assert "RuntimeError: broken\nin two" in json.loads(line)["exception"]


def test_slow_log_reader_loses_lines_and_delays_nothing() -> None:
    reader, writer = os.pipe()
    handler = JsonHandler(writer)
    # The lines take ten times the capacity of a pipe.
    for number in range(5000):
        handler.emit(record("line %d %s", number, "x" * 80))
    os.set_blocking(reader, False)
    with os.fdopen(reader, "rb") as stream:
        before = stream.read()
        handler.emit(record("after"))
        after = stream.read()
    os.close(writer)
    assert before.startswith(b'{"time"') and len(before) < 100_000
    assert json.loads(after)["message"] == "after"


def test_a_line_that_was_cut_does_not_damage_the_next_one() -> None:
    reader, writer = os.pipe()
    handler = JsonHandler(writer)
    # A pipe has room for several pieces, but not for this line.
    handler.emit(record("x" * 1_000_000))
    os.set_blocking(reader, False)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read()
        for message in ("first", "second"):
            handler.emit(record(message))
        _, *lines = (said + stream.read()).splitlines()
    os.close(writer)
    assert [json.loads(line)["message"] for line in lines] == ["first", "second"]


def test_unknown_log_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "loud")
    with pytest.raises(ConfigurationError, match="LOG_LEVEL: 'loud'") as caught:
        configure_logging()
    assert caught.value.hint == "choose one of debug, info, warning, error"
