"""Values of environment variables, and which are rejected."""

import json
from pathlib import Path

import pytest

from workshop.errors import ConfigurationError
from workshop.settings import read_address, read_number, settings


@pytest.mark.parametrize(
    ("written", "number"),
    [("", None), (" ", None), ("0", 0), (" 8 ", 8)],
)
def test_whole_number_from_0_to_8(
    monkeypatch: pytest.MonkeyPatch, written: str, number: int | None
) -> None:
    monkeypatch.setenv("PORT", written)
    assert read_number("PORT", most=8, whole=True) == number


@pytest.mark.parametrize("written", ["-1", "9", "2.5", "x"])
def test_other_number_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("PORT", written)
    with pytest.raises(ConfigurationError, match="PORT must be a whole number from 0 to 8, got"):
        read_number("PORT", most=8, whole=True)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", None),
        ("https://docs.example.com/", "https://docs.example.com"),
        ("http://[::1]:8000/a/b/", "http://[::1]:8000/a/b"),
        ("docs.example.com", ""),
        ("ftp://docs.example.com", ""),
        ("https://user:secret@docs.example.com", ""),
        ("https://docs.example.com/?a=b", ""),
    ],
)
def test_address(monkeypatch: pytest.MonkeyPatch, written: str, address: str | None) -> None:
    monkeypatch.setenv("PUBLIC_URL", written)
    if address == "":
        with pytest.raises(ConfigurationError, match="PUBLIC_URL must be an address"):
            read_address("PUBLIC_URL")
    else:
        assert read_address("PUBLIC_URL") == address


@pytest.mark.parametrize(("variable", "port"), [("", 8000), ("81", 81)])
def test_settings_of_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, port: int
) -> None:
    limits = {"connections": 9, "searches": 8, "streams": 7, "requests_per_minute": 6}
    values = {"name": "n", "title": "t", "description": "d", "port": 8000, "allowed_hosts": ["a"]}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**values, "max_body_bytes": 5, "limits": limits}))
    monkeypatch.setenv("PORT", variable)
    chosen = settings(file)
    assert (chosen.port, chosen.allowed_hosts, chosen.max_body_bytes) == (port, frozenset("a"), 5)
    assert chosen.limits.streams == 7
    assert chosen.limits.requests_per_minute == 6


@pytest.mark.parametrize("limit", [{"searches": 0}, {"connections": -1}, {"chats": -1}])
def test_limits_with_which_nothing_is_answered(limit: dict[str, int], tmp_path: Path) -> None:
    limits = {"connections": 9, "searches": 9, "streams": 9, **limit}
    values = {"name": "n", "title": "t", "description": "", "port": 1, "max_body_bytes": 9}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**values, "allowed_hosts": [], "limits": limits}))
    with pytest.raises(ConfigurationError, match=r"settings\.json: .*at least 1") as refusal:
        settings(file)
    assert (refusal.value.hint or "").startswith("correct the file")


def test_port_that_there_cannot_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{}")
    monkeypatch.setenv("PORT", "65536")
    with pytest.raises(ConfigurationError, match="PORT must be a whole number from 0 to 65535"):
        settings(tmp_path / "settings.json")


def test_hosts_of_the_environment_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    values = {"name": "n", "title": "t", "description": "", "port": 1, "max_body_bytes": 9}
    limits = {"connections": 9, "searches": 9, "streams": 9}
    file.write_text(json.dumps({**values, "allowed_hosts": ["C.example"], "limits": limits}))
    monkeypatch.setenv("ALLOWED_HOSTS", " a.example , B.example:1 ,")
    assert settings(file).allowed_hosts == {"a.example", "b.example:1", "c.example"}
    settings.cache_clear()
    monkeypatch.setenv(
        "ALLOWED_HOSTS", "::FFFF:10.0.0.1,[::ffff:a00:2]:80,2001:db8:0:0::1,[0:0::2]:9"
    )
    assert settings(file).allowed_hosts - {"c.example"} == {
        *("10.0.0.1", "10.0.0.2:80", "[2001:db8::1]", "[::2]:9"),
    }
    for host in ("*", "*.example.com", "http://a.example", "a b", "a/b", "[::1"):
        settings.cache_clear()
        monkeypatch.setenv("ALLOWED_HOSTS", host)
        with pytest.raises(ConfigurationError, match="ALLOWED_HOSTS"):
            settings(file)
    settings.cache_clear()
