"""The page cache: private, exact, and unused entries expire."""

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foundry.errors import BuildError
from foundry.fetching.page_cache import FILE_NAME, CachedPage, PageCache
from foundry.urls import parse_url

URL = parse_url("http://example.com/a?b")
PAGE = CachedPage({"etag": '"1"', "content-type": "text/html"}, b"\0some bytes\xff" * 100)


def test_stored_pages_are_loaded_unchanged(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "web")
    assert cache.load(URL) is None
    cache.store(URL, PAGE)
    assert cache.load(URL) == PAGE
    cache.close()
    again = PageCache(tmp_path / "web")
    assert again.load(URL) == PAGE
    again.store(URL, CachedPage({}, b"new"))
    assert again.load(URL) == CachedPage({}, b"new")
    again.close()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=10,
)
@given(st.binary(max_size=2_000), st.dictionaries(st.text(max_size=20), st.text(max_size=20)))
def test_any_page_survives_storage(tmp_path: Path, body: bytes, headers: dict[str, str]) -> None:
    cache = PageCache(tmp_path / "web")
    cache.store(URL, CachedPage(headers, body))
    assert cache.load(URL) == CachedPage(headers, body)
    cache.close()


def test_cache_files_are_private(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "web")
    cache.store(URL, PAGE)
    assert stat.S_IMODE((tmp_path / "web").stat().st_mode) == 0o700
    for file in (tmp_path / "web").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    cache.close()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / FILE_NAME).symlink_to(tmp_path / "victim")
    with pytest.raises(BuildError):
        PageCache(tmp_path / "web")
    assert not (tmp_path / "victim").exists()


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / FILE_NAME).write_bytes(b"no database at all" * 1_000)
    cache = PageCache(tmp_path / "web")
    cache.store(URL, PAGE)
    assert cache.load(URL) == PAGE
    cache.close()


def test_unused_pages_are_deleted(tmp_path: Path) -> None:
    other = parse_url("http://example.com/other")
    cache = PageCache(tmp_path / "web")
    cache.store(URL, PAGE)
    cache.store(other, PAGE)
    cache.close()
    cache = PageCache(tmp_path / "web")
    cache.load(other)
    cache.drop_unused()
    assert (cache.load(other), cache.load(URL)) == (PAGE, None)
    cache.close()
