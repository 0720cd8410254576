"""Publishing into an engine: early errors, and the data that is sent."""

import errno
import json
import os
from typing import Any

import pytest
from conftest import CONFIG, MakeProject, Project

from foundry.config.project import Config, load_config
from foundry.errors import (
    BuildError,
    ConfigError,
    IndexUnusableError,
    PublishError,
    StaleIndexError,
)
from foundry.indexing.versions import (
    begun_version,
    built_index,
    check_index,
    describe_staleness,
    intact_index,
    refuse_stale,
)
from foundry.progress import Reporter
from foundry.runtime.index.layout import Manifest, manifest_bytes
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.checking import Agreement, Outcome
from foundry.stores.options import Publication, PublishOptions
from foundry.stores.publish import publish_index

ENGINES = {"qdrant": "QDRANT_URL", "pgvector": "DATABASE_URL"}
DONE = Outcome(True, Agreement(recall=0.5, difference=1e-6), ("old",))


def set_engine(project: Project, engine: str, more: str = "") -> Config:
    store = f'[store]\nengine = "{engine}"\nname = "pumps"\ntimeout_ms = 1500\n'
    (project.root / "foundry.toml").write_text(f"{CONFIG}{store}{more}")
    return load_config(project.root)


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project({"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"})
    project.succeed("build", "--quiet")
    return project


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...]]]:
    """The engines that were called, with their arguments."""
    calls: list[tuple[str, tuple[Any, ...]]] = []
    for engine, variable in ENGINES.items():

        def publish(*given: Any, engine: str = engine) -> Outcome:
            calls.append((engine, given))
            return DONE

        monkeypatch.setattr(f"foundry.stores.{engine}.publishing.publish", publish)
        monkeypatch.setenv(variable, "somewhere")
    return calls


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_gets_the_current_index(engine: str, built: Project, asked: list[Any]) -> None:
    config = set_engine(built, engine)
    built.succeed("build", "--quiet")
    manifest = built.index / "manifest.json"
    os.utime(manifest, (1, 1))
    reporter, options = Reporter(), PublishOptions(again=True)
    done = publish_index(config, reporter, options)
    counts = (done.chunks, done.postings)
    assert done == Publication(engine, "pumps", done.version, *counts, 0.5, 1e-6, True, ("old",))
    ((name, (content, settings, *rest)),) = asked
    assert name == engine
    found = Manifest.read(manifest)
    assert content.version == done.version == found.version
    assert counts == (found.chunks, found.postings)
    assert settings == StoreSettings("pumps", True, 1.5)
    assert rest == [reporter, options]
    # The new time makes servers that watch the folder look again.
    assert manifest.stat().st_mtime > 1


@pytest.mark.parametrize(("engine", "variable"), ENGINES.items())
@pytest.mark.parametrize("value", ["", " "])
def test_engine_without_an_address_is_an_error(
    engine: str,
    variable: str,
    value: str,
    built: Project,
    asked: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, value)
    config = set_engine(built, engine)
    with pytest.raises(PublishError, match=f"{engine}: {variable} is not set"):
        publish_index(config, Reporter(), PublishOptions())
    monkeypatch.delenv(variable)
    with pytest.raises(PublishError, match=f"{engine}: {variable} is not set"):
        publish_index(config, Reporter(), PublishOptions())
    assert asked == []


def test_embedded_index_is_not_published(built: Project, asked: list[Any]) -> None:
    with pytest.raises(ConfigError, match="nothing to publish into") as caught:
        publish_index(load_config(built.root), Reporter(), PublishOptions())
    assert caught.value.hint == "set it to 'qdrant' or 'pgvector'"
    assert asked == []


def test_index_of_another_configuration_is_refused(built: Project, asked: list[Any]) -> None:
    set_engine(built, "qdrant")
    built.succeed("build", "--quiet")
    config = set_engine(built, "qdrant", "[chunking]\nmax_chars = 700\n")
    with pytest.raises(StaleIndexError) as caught:
        publish_index(config, Reporter(), PublishOptions())
    assert asked == []
    assert "pass --stale" in str(caught.value.hint)
    said = describe_staleness(config, Manifest.read(built.index / "manifest.json"))
    assert said is not None and said == caught.value.message
    first, *changes = said.splitlines()
    assert first == f"{config.root / 'foundry.toml'}: has changed since the index was built:"
    assert len(changes) == 1 and changes[0].startswith("  ") and "max_chars" in changes[0]
    publish_index(config, Reporter(), PublishOptions(stale=True))
    assert len(asked) == 1


def test_index_of_the_same_configuration_is_published(built: Project) -> None:
    config = load_config(built.root)
    index = built_index(config)
    check_index(index, config.root)
    assert index.folder == built.index
    assert describe_staleness(config, index.manifest) is None
    refuse_stale(config, index.manifest)
    assert intact_index(config) == index


def test_damaged_index_is_refused(built: Project, asked: list[Any]) -> None:
    config = set_engine(built, "qdrant")
    (built.index / "chunks.jsonl").write_bytes(b"")
    with pytest.raises(IndexUnusableError, match=r"damaged: chunks\.jsonl") as caught:
        publish_index(config, Reporter(), PublishOptions(stale=True))
    assert caught.value.hint == f"build it again: foundry build {built.root}"
    assert asked == []
    assert intact_index(config) is None


def test_index_of_another_tokenizer_is_refused(built: Project) -> None:
    config, file = load_config(built.root), built.index / "manifest.json"
    file.write_bytes(manifest_bytes({**json.loads(file.read_bytes()), "tokenizer_version": 99}))
    built.sign_anew()
    with pytest.raises(IndexUnusableError, match="built with tokenizer 99") as caught:
        built_index(config)
    assert caught.value.hint == f"build it again: {config.build_command}"


def test_project_without_an_index_is_an_error(make_project: MakeProject) -> None:
    config = load_config(make_project({}).root)
    with pytest.raises(IndexUnusableError, match="has no index yet") as caught:
        built_index(config)
    assert caught.value.hint == f"build it: {config.build_command}"
    assert intact_index(config) is None


def test_version_is_missing_unless_it_was_published(built: Project) -> None:
    config = load_config(built.root)
    with begun_version(config) as folder:
        assert folder.is_dir() and folder.parent == built.index.parent
    assert not folder.exists()
    with pytest.raises(ValueError, match="other"), begun_version(config) as folder:
        raise ValueError("other")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left", "/there/x"), "/there/x: cannot be written: No sp"),
        (OSError("strange"), "index: cannot be written: strange; the last published index is kept"),
    ],
)
def test_unwritable_version_is_an_error(error: OSError, said: str, built: Project) -> None:
    with pytest.raises(BuildError) as caught, begun_version(load_config(built.root)) as folder:
        raise error
    assert said in caught.value.message
    assert caught.value.hint == "check the free space and the permissions of the folder"
    assert not folder.exists()
