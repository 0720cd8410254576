"""MCP messages before dispatch: validity and version."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foundry.runtime.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    PARSE_ERROR,
    MessageError,
    check_version,
    parse_message,
)

PARSE, INVALID = PARSE_ERROR, INVALID_REQUEST
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@pytest.mark.parametrize("text", ["{}", '{"id": 1}', '{"id": "a"}', '{"method": "ping", "id": 0}'])
def test_objects_with_a_proper_id_are_messages(text: str) -> None:
    assert parse_message(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", PARSE),
        (b"{", PARSE),
        (b"{} {}", PARSE),
        (b'{"a": "\xff"}', PARSE),
        (b'{"a": "\\ud800"}', PARSE),
        (b'{"a": NaN}', PARSE),
        (b"[" * 100_000, PARSE),
        (b'{"id": ' + b"9" * 5_000 + b"}", PARSE),
        (b"[]", INVALID),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID),
        (b'"text"', INVALID),
        (b"null", INVALID),
        (b'{"id": null}', INVALID),
        (b'{"id": true}', INVALID),
        (b'{"id": 1.5}', INVALID),
        (b'{"id": {}}', INVALID),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_malformed_messages_have_an_error_code(text: bytes, code: int) -> None:
    with pytest.raises(MessageError) as raised:
        parse_message(text)
    answer = json.loads(raised.value.reply)
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", None, code)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        (b'{"id": 7, "params": {"query": "\\ud83d"}}', 7),
        (b'{"id": "a", "params": {"top_k": NaN}}', "a"),
        (b'{"id": "\\ud83d"}', None),
        (b'{"id": [NaN]}', None),
    ],
)
def test_a_refused_value_is_answered_with_the_id(text: bytes, identifier: object) -> None:
    with pytest.raises(MessageError) as raised:
        parse_message(text)
    answer = json.loads(raised.value.reply)
    assert (answer["id"], answer["error"]["code"]) == (identifier, PARSE)


@given(st.binary() | st.text().map(str.encode) | st.from_type(type(None)).map(lambda _: b"{}"))
@example(b"\xef\xbb\xbf{}")
def test_any_input_is_a_message_or_refused(text: bytes) -> None:
    try:
        assert isinstance(parse_message(text), dict)
    except MessageError as error:
        assert json.loads(error.reply)["error"]["code"] in (PARSE, INVALID)


@pytest.mark.parametrize("params", [None, 1, [], {}, {"_meta": 1}, {"_meta": {}}])
def test_messages_of_older_versions_contain_no_version(params: object) -> None:
    check_version({"params": params}, None)
    check_version({"params": params}, "2025-06-18")


def test_message_and_header_must_have_the_same_version() -> None:
    message = {"id": 7, "params": {"_meta": {VERSION_KEY: "2026-07-28"}}}
    check_version(message, "2026-07-28")
    for header in (None, "", "2025-11-25"):
        with pytest.raises(MessageError) as raised:
            check_version(message, header)
        answer = json.loads(raised.value.reply)
        assert (answer["error"]["code"], answer["id"]) == (HEADER_MISMATCH, 7)
