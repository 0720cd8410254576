"""Which callers may ask, and how often, with a fake clock."""

from dataclasses import replace

import pytest
from starlette.exceptions import HTTPException

from workshop.errors import ConfigurationError
from workshop.settings import Limits
from workshop.web.access import RateLimit, rate_checks, read_tokens, token_check

TOKEN = "t" * 32
OTHER_TOKEN = "o" * 40


def sent(*authorization: str, address: str = "10.0.0.1") -> dict[str, object]:
    """A request with these Authorization headers."""
    headers = [(b"authorization", value.encode("latin-1")) for value in authorization]
    return {"headers": headers, "client": (address, 1)}


RIGHT = [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN} ", f"Bearer {OTHER_TOKEN}"]
WRONG = [f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN.upper()}", TOKEN]
WRONG += [f"Bearer {TOKEN},{OTHER_TOKEN}", f"Bearer {'x' * 10_240}", "Bearer t\xf6ken", "Bearer"]
WRONG += ["Bearer ", "", f"Basic {TOKEN}"]


def test_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKENS", f"{TOKEN}, {OTHER_TOKEN}")
    check = token_check()
    assert check is not None
    for value in RIGHT:
        check(sent(value))
    for values in [[value] for value in WRONG] + [[], [RIGHT[0], RIGHT[0]]]:
        with pytest.raises(HTTPException, match="401") as caught:
            check(sent(*values))
        assert caught.value.headers == {"WWW-Authenticate": "Bearer"}


def test_open_paths_need_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKENS", TOKEN)
    check = token_check(lambda scope: scope["path"] == "/")
    assert check is not None
    check({**sent(), "path": "/"})
    with pytest.raises(HTTPException):
        check({**sent(), "path": "/search"})


def test_without_tokens_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKENS", " , ")
    assert token_check() is None


@pytest.mark.parametrize("tokens", ["short", "x" * 31, f"{TOKEN},short"])
def test_short_token_is_refused(monkeypatch: pytest.MonkeyPatch, tokens: str) -> None:
    monkeypatch.setenv("API_TOKENS", tokens)
    with pytest.raises(ConfigurationError, match="32 characters") as caught:
        read_tokens()
    assert "short" not in caught.value.message
    assert caught.value.hint is not None


class Clock:
    """A fake monotonic clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_bucket_starts_full_and_refills_steadily() -> None:
    clock = Clock()
    limit = RateLimit(30, clock)
    assert [limit.take(b"a") for _ in range(30)] == [0.0] * 30
    assert limit.take(b"a") == pytest.approx(2.0)
    # Rejected requests cost nothing.
    clock.now += 1.5
    assert limit.take(b"a") == pytest.approx(0.5)
    clock.now += 0.5
    assert limit.take(b"a") == 0.0
    assert limit.take(b"a") == pytest.approx(2.0)
    # Other callers have separate buckets.
    assert limit.take(b"b") == 0.0
    # After an hour, the bucket is full, but no more than that.
    clock.now += 3600
    assert [limit.take(b"a") == 0.0 for _ in range(31)] == [True] * 30 + [False]


def test_the_longest_idle_caller_is_forgotten_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workshop.web.access.MAX_CALLERS", 2)
    limit = RateLimit(1, Clock())
    assert [limit.take(caller) for caller in (b"a", b"b", b"a", b"b")] == [0.0, 0.0, 60.0, 60.0]
    assert limit.take(b"c") == 0.0
    # The caller that was idle longest is forgotten and starts again; recent callers still wait.
    assert [limit.take(caller) for caller in (b"b", b"a")] == [60.0, 0.0]


def test_all_spellings_of_an_ipv4_address_are_one_caller() -> None:
    check = rate_checks(Limits(9, 9, 9, requests_per_minute=2))["search"]
    check(sent(address="10.0.0.1"))
    check(sent(address="::ffff:10.0.0.1"))
    for address in ("10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"):
        with pytest.raises(HTTPException):
            check(sent(address=address))
    check(sent(address="::ffff:10.0.0.2"))


@pytest.mark.parametrize(
    ("tokens", "others"),
    [
        # The address counts, even if a client invents tokens.
        ("", [sent(address="10.0.0.2"), {"headers": [], "client": None}]),
        # For open paths, clients without a token are identified by address too.
        (TOKEN, [sent(f"Bearer {TOKEN}"), sent(f"Bearer {OTHER_TOKEN}"), sent(address="10.0.0.2")]),
    ],
)
def test_callers_are_identified_by_token_or_address(
    monkeypatch: pytest.MonkeyPatch, tokens: str, others: list[dict[str, object]]
) -> None:
    monkeypatch.setenv("API_TOKENS", tokens)
    limits, kinds = Limits(9, 9, 9, requests_per_minute=1), ["search", "mcp"]
    limits = replace(limits, chat_requests_per_minute=1)
    kinds.append("chat")
    checks = rate_checks(limits)
    same = sent() if tokens else sent(f"Bearer {TOKEN}")
    for scope in (sent(), *others):
        checks["search"](scope)
        checks["chat"](scope)
    for scope in (sent(), same, *others):
        for kind in kinds:
            with pytest.raises(HTTPException, match="429") as caught:
                checks[kind](scope)
            assert caught.value.headers == {"Retry-After": "60"}


def test_zero_is_no_limit() -> None:
    assert rate_checks(Limits(9, 9, 9, requests_per_minute=0)) == {}
