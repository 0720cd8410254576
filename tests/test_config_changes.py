"""Every key of foundry.toml either changes the index, or is known not to."""

import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project
from processes import snapshot
from pydantic import BaseModel

from foundry.cli.main import main
from foundry.config.changes import EXEMPT, deciding_values, hash_config
from foundry.config.file import ConfigFile
from foundry.config.project import Config, load_config
from foundry.errors import ConfigError
from foundry.features.access import AccessRule
from foundry.features.stages import STAGES
from foundry.features.stages.ranking import Tier
from foundry.features.stages.results import PinnedAnswer

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

Change = tuple[str, object, bool]
"""The configuration with the key, its other value, and whether the index depends on it."""

FOLDER = """
[project]
name = "notes"

[[sources]]
type = "folder"
name = "files"
path = "sources"
metadata = ["team"]
"""
RECORDS = """
[project]
name = "notes"

[[sources]]
type = "records"
name = "rows"
path = "tables/rows.csv"
metadata = ["team"]
"""
GIT = """
[project]
name = "notes"

[[sources]]
type = "git"
repository = "git@example.com:notes.git"
"""
BASE_URL = 'base_url = "https://example.com/"\n'
URL = """
[project]
name = "notes"

[[sources]]
type = "url"
urls = ["https://example.com/a"]
"""
SITEMAP = """
[project]
name = "notes"

[[sources]]
type = "sitemap"
url = "https://example.com/sitemap.xml"
"""
SITE = SITEMAP.replace('"sitemap"', '"site"')
SERVICE = FOLDER + """
[embedding]
provider = "openai"
model = "small"
base_url = "http://127.0.0.1:1/v1"
dimensions = 8
"""
ENGINE = FOLDER + """
[store]
engine = "pgvector"
"""
BOX = f"""{FOLDER}
[server]
search_box = true
allowed_origins = ["https://a.example"]
"""
RIGHTS = FOLDER + """
[build]
duplicates = "keep"
boilerplate = "keep"

[server]
access = true
access_default = "nothing"
access_rules = [{ name = "a", filters = { tags = "a" } }]
"""

WEB: dict[str, Change] = {
    "name": ("", "other", True),
    "tags": ("", ["x"], True),
    "markdown": ("", False, True),
    "min_coverage": ("", 0.5, False),
    "requests_per_second": ("", 1.0, False),
    "timeout_seconds": ("", 5.0, False),
    "max_bytes": ("", 1_000, True),
    "user_agent": ("", "Other/1", False),
}
LISTED: dict[str, Change] = {
    **WEB,
    "url": ("", "https://example.com/other.xml", True),
    "include": ("", ["/a*"], True),
    "exclude": ("", ["/b*"], True),
    "hosts": ("", ["docs.example.com"], True),
    "max_pages": ("", 5, True),
}


def of(config: str, section: str, changes: Mapping[str, Change]) -> dict[str, Change]:
    return {f"{section}.{key}": (config, *change[1:]) for key, change in changes.items()}


CHANGES: dict[str, Change] = {
    "project.name": (FOLDER, "other", False),
    "project.title": (FOLDER, "Other", False),
    "project.description": (FOLDER, "Other.", False),
    "project.language": (FOLDER, "german", True),
    "folder.name": (FOLDER, "other", True),
    "folder.path": (FOLDER, "others", True),
    "folder.include": (FOLDER, ["*.md"], True),
    "folder.exclude": (FOLDER, ["b.txt"], True),
    "folder.base_url": (FOLDER, "https://example.com/", True),
    "folder.url_suffix": (FOLDER + BASE_URL, "/", True),
    "folder.tags": (FOLDER, ["x"], True),
    "folder.metadata": (FOLDER, ["team", "owner"], True),
    "folder.modified": (FOLDER, "file", True),
    "folder.max_bytes": (FOLDER, 200, True),
    "folder.ocr": (FOLDER, True, True),
    "folder.ocr_pages": (FOLDER + "ocr = true\n", 9, True),
    "records.name": (RECORDS, "other", True),
    "records.path": (RECORDS, "tables/others.csv", True),
    "records.id": (RECORDS, "number", True),
    "records.title": (RECORDS, "heading", True),
    "records.text": (RECORDS, "words", True),
    "records.url": (RECORDS, "link", True),
    "records.modified": (RECORDS, "changed", True),
    "records.tags_column": (RECORDS, "labels", True),
    "records.metadata": (RECORDS, ["team", "owner"], True),
    "records.text_format": (RECORDS, "markdown", True),
    "records.base_url": (RECORDS, "https://example.com/", True),
    "records.tags": (RECORDS, ["x"], True),
    "git.name": (GIT, "other", True),
    "git.repository": (GIT, "git@example.com:others.git", True),
    "git.ref": (GIT, "v1", True),
    "git.versions": (GIT, ["v2", "v1"], True),
    "git.include": (GIT, ["*.md"], True),
    "git.exclude": (GIT, ["b.txt"], True),
    "git.base_url": (GIT, "https://example.com/", True),
    "git.url_suffix": (GIT + BASE_URL, "/", True),
    "git.tags": (GIT, ["x"], True),
    "git.metadata": (GIT, ["team"], True),
    "git.folder": (GIT, "docs", True),
    "git.history": (GIT, False, True),
    "git.ocr": (GIT, True, True),
    "git.ocr_pages": (GIT + "ocr = true\n", 9, True),
    "git.max_bytes": (GIT, 200, True),
    **of(URL, "url", WEB),
    "url.urls": (URL, ["https://example.com/b"], True),
    **of(SITEMAP, "sitemap", LISTED),
    **of(SITE, "site", LISTED),
    "site.depth": (SITE, 1, True),
    "build.duplicates": (FOLDER, "near", True),
    "build.max_unaccounted": (FOLDER, 0.5, False),
    "build.boilerplate": (FOLDER, "keep", True),
    "chunking.strategy": (FOLDER, "recursive", True),
    "chunking.max_chars": (FOLDER, 100, True),
    "chunking.overlap": (FOLDER, 20, True),
    "chunking.parent_max_chars": (FOLDER + '[chunking]\nstrategy = "parent"\n', 500, True),
    "chunking.max_tokens": (FOLDER, 32, True),
    "embedding.provider": (FOLDER, "none", True),
    "embedding.model": (SERVICE, "large", True),
    "embedding.base_url": (SERVICE, "http://127.0.0.1:2/v1", False),
    "embedding.api_key_env": (SERVICE, "EMBEDDING_OTHER_KEY", False),
    "embedding.dimensions": (SERVICE, 16, True),
    "embedding.document_prefix": (SERVICE, "passage: ", True),
    "embedding.query_prefix": (SERVICE, "query: ", True),
    "embedding.max_tokens": (SERVICE, 64, True),
    "embedding.concurrency": (SERVICE, 2, False),
    "embedding.retry_seconds": (SERVICE, 1, False),
    "embedding.query": (SERVICE, "same", True),
    "embedding.distillation_texts": (SERVICE, 100, True),
    "search.fusion": (FOLDER, "rrf", False),
    "search.semantic_weight": (FOLDER, 0.1, False),
    "search.keyword_weight": (FOLDER, 0.1, False),
    "search.k": (FOLDER + '[search]\nfusion = "rrf"\n', 30, False),
    "search.identifier_fallback": (FOLDER, False, False),
    "search.unknown_identifiers": (FOLDER, False, False),
    "search.identifier_patterns": (FOLDER, ["[A-Z]-[0-9]"], False),
    "search.filterable": (FOLDER, ["team"], True),
    "search.fields.title": (FOLDER, 7, True),
    "search.fields.headings": (FOLDER, 7, True),
    "search.fields.tags": (FOLDER, 7, True),
    "search.fields.metadata": (FOLDER, {"team": 2}, True),
    "search.correction": (FOLDER, {}, True),
    "search.synonyms": (FOLDER, {}, True),
    "search.suggestions": (FOLDER, {}, True),
    "search.weights_by_match": (FOLDER, {}, False),
    "search.adaptive_weights": (FOLDER, {}, False),
    "search.anchors": (FOLDER, {}, False),
    "search.recency": (FOLDER, {}, False),
    "search.languages": (FOLDER, {}, False),
    "search.operators": (FOLDER, {}, False),
    "search.links": (FOLDER, {}, False),
    "search.expansion": (FOLDER, {}, True),
    "search.understanding": (FOLDER, {}, False),
    "search.heuristics": (FOLDER, {}, False),
    "search.word_parts": (FOLDER, {}, False),
    "search.rerank": (FOLDER, {"model": "some/model"}, False),
    "search.rerank_service": (
        FOLDER,
        {"service": "tei", "base_url": "http://127.0.0.1:1"},
        False,
    ),
    "search.minimum_score": (FOLDER, {"score": 0.1}, False),
    "search.near_duplicates": (FOLDER, {}, False),
    "search.versions": (FOLDER, {"folders": ["v2", "v1"]}, True),
    "search.pinned": (FOLDER, {"answers": [{"query": "seal", "document": "a.md"}]}, True),
    "search.document_cap": (FOLDER, {}, False),
    "search.facets": (FOLDER, {}, False),
    "store.engine": (FOLDER, "pgvector", True),
    "store.name": (ENGINE, "other", False),
    "store.exact": (ENGINE, False, False),
    "store.records": (ENGINE, "engine", False),
    "store.timeout_ms": (ENGINE, 100, False),
    "server.port": (FOLDER, 8001, False),
    "server.allowed_hosts": (FOLDER, ["example.com"], False),
    "server.max_body_bytes": (FOLDER, 2048, False),
    "server.max_connections": (FOLDER, 9, False),
    "server.concurrent_searches": (FOLDER, 9, False),
    "server.concurrent_chats": (FOLDER, 9, False),
    "server.concurrent_mcp_calls": (FOLDER, 9, False),
    "server.concurrent_streams": (FOLDER, 9, False),
    "server.requests_per_minute": (FOLDER, 9, False),
    "server.chat_requests_per_minute": (FOLDER, 9, False),
    "server.mcp": (FOLDER, False, False),
    "server.chat": (FOLDER, False, False),
    "server.monitoring": (FOLDER, False, False),
    "server.reloading": (FOLDER, False, False),
    "server.command_line": (FOLDER, False, False),
    "server.hooks": (FOLDER, False, False),
    "server.question_log": (FOLDER, True, False),
    "server.originals": (FOLDER, True, False),
    "server.callers": (FOLDER + "[server]\nmcp = false\nchat = false\n", False, False),
    "server.documents": (
        FOLDER + "[server]\nmcp = false\nchat = false\npage = false\n",
        False,
        False,
    ),
    "server.assistants": (FOLDER, True, False),
    "server.access": (RIGHTS, False, False),
    "server.access_default": (RIGHTS, "all", False),
    "server.access_rules": (RIGHTS, [{"name": "b", "filters": {"tags": "b"}}], False),
    "server.access_statistics": (RIGHTS, "visible", True),
    "server.openai": (FOLDER, True, False),
    "server.folders": (FOLDER, True, False),
    "server.language_model": (FOLDER, True, False),
    "server.chat_instructions": (FOLDER + "[server]\nlanguage_model = true\n", "Be brief.", False),
    "server.page": (FOLDER, False, False),
    "server.search_box": (BOX, False, False),
    "server.allowed_origins": (BOX, ["https://b.example"], False),
    "export.package": (FOLDER, "other_package", False),
    "export.targets": (FOLDER, ["procfile"], False),
    "export.templates": (FOLDER, "templates", False),
}
STAGE_KEYS: dict[str, dict[str, object]] = {
    "facets": {"passages": 50, "choices": 3},
    "languages": {"share": 0.6},
    "operators": {"phrase_chunks": 9},
    "correction": {"words": 1000},
    "suggestions": {"words": 1000},
    "synonyms": {"file": "others/words.txt", "acronyms": False},
    "weights_by_match": {"keyword_weight": 0.2},
    "adaptive_weights": {
        "mostly": 0.6,
        "mostly_semantic_weight": 0.6,
        "partly": 0.1,
        "partly_semantic_weight": 0.6,
    },
    "anchors": {"factor": 2.0},
    "recency": {"kind": "decay", "tiers": [{"days": 1, "factor": 2.0}]},
    "links": {"seeds": 5, "neighbours": 5, "factor": 0.6},
    "expansion": {"terms": 5, "minimum_cosine": 0.6, "vocabulary": 10},
    "understanding": {"rewrite": False, "extract": ["tags"], "confidence": 0.6, "deadline_ms": 9},
    "heuristics": {"hits": 5, "entities_gain": 0.6, "category_gain": 0.6},
    "word_parts": {"hits": 5, "gain": 0.6},
    "rerank": {"model": "other/model", "hits": 5, "deadline_ms": 9},
    "rerank_service": {
        "service": "jina",
        "model": "other/model",
        "base_url": "http://127.0.0.1:2",
        "hits": 5,
        "deadline_ms": 9,
    },
    "minimum_score": {"semantic": 0.6, "keyword": 0.6, "score": 0.6},
    "near_duplicates": {"similarity": 0.6},
    "versions": {"folders": ["", "v1"], "share": 0.5},
    "pinned": {"answers": [{"query": "seals", "document": "b.txt"}]},
    "document_cap": {"hits": 5},
}
STARTED = {
    "synonyms": 'file = "tables/words.txt"\n',
    "rerank": 'model = "some/model"\n',
    "rerank_service": 'service = "cohere"\nmodel = "some/model"\n',
    "minimum_score": "score = 0.1\n",
    "versions": 'folders = ["v2", "v1"]\n',
    "pinned": 'answers = [{ query = "seal", document = "a.md" }]\n',
    "understanding": 'extract = ["source"]\n',
}
"""Keys that a table must have before another of its keys is changed."""

for stage, values in STAGE_KEYS.items():
    table = f"{FOLDER}\n[search.{stage}]\n{STARTED.get(stage, '')}"
    for name, value in values.items():
        CHANGES[f"search.{stage}.{name}"] = (table, value, name in STAGES[stage].built_in)
for name, value in {"half_life_days": 9.0, "floor": 0.2}.items():
    decay = f'{FOLDER}\n[search.recency]\nkind = "decay"\n'
    CHANGES[f"search.recency.{name}"] = (decay, value, False)

FILES = {
    "sources/a.md": "---\nteam: red\nowner: Ann\ntags: [seal]\n---\n# Seals\n\n"
    + "Replace the D40 seal yearly. Replacements are kept in the cellar. " * 4
    + "\n\n## Grease\n\nUse little of it, and use it seldom.\n",
    "sources/b.txt": "Pumps are tested on Mondays, and the houses of the pumps on Tuesdays.",
    "sources/c.txt": "Pumps are tested on Mondays, and the houses of the pumps on Tuesdays!",
    "tables/words.txt": "pump, well\n",
    "others/words.txt": "seal, gasket\n",
    "others/d.md": "# Others\n\nOther words.\n",
    "templates/readme": "",
    "tables/rows.csv": "id,number,title,heading,text,words,url,link,modified,changed,tags,labels,"
    "team,owner\n1,9,One,Eins,First *row*,Erste,http://a.example/,http://b.example/,2024-01-01,"
    "2023-01-01,x,y,red,Ann\n",
    "tables/others.csv": "id,title,text,team\n5,Five,Fifth row,red\n",
}


def sections(model: type[BaseModel], place: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Return every section of foundry.toml by its place; sources by their type."""
    yield place, model
    for name, field in model.model_fields.items():
        for child in models_in(field.annotation):
            below = f"{place}.{name}".lstrip(".")
            if name == "sources":
                below = get_args(child.model_fields["type"].annotation)[0]
            yield from sections(child, below)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        if not isinstance(argument, str):
            yield from models_in(argument)


def written_keys() -> Iterator[str]:
    for place, model in sections(ConfigFile):
        for name in model.model_fields:
            is_table = not place or (place, name) == ("search", "fields")
            if not is_table and name != "type" and model not in {Tier, AccessRule, PinnedAnswer}:
                yield f"{place}.{name}"


def test_every_key_is_hashed_or_exempt() -> None:
    assert sorted(CHANGES) == sorted(set(written_keys()))


def apply(key: str, project: Project) -> None:
    """Write the other value of a key into a project's foundry.toml."""
    file = project.root / "foundry.toml"
    values = tomllib.loads(file.read_text(encoding="utf-8"))
    _, other, _ = CHANGES[key]
    *places, name = key.split(".")
    table: dict[str, Any] = values
    if places[0] in {"folder", "records", "git", "url", "sitemap", "site"}:
        table = values["sources"][0]
    else:
        for place in places:
            table = table.setdefault(place, {})
    if key in {"server.access", "server.search_box"}:
        # The table's other keys would have no effect, which is an error.
        table.clear()
    table[name] = other
    file.write_text(to_toml(values), encoding="utf-8")


def to_toml(values: Mapping[str, Any]) -> str:
    """Return TOML with one top-level key per table, as inline values."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in values.items())


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


MakeBuilt = Callable[[str], Project]


@pytest.fixture(scope="module")
def built_before() -> dict[str, Path]:
    """The folder of the first build of each configuration; tests copy it."""
    return {}


@pytest.fixture
def make_built(
    make_project: MakeProject, built_before: dict[str, Path], tmp_path_factory: Any, tmp_path: Path
) -> MakeBuilt:
    def make(config: str) -> Project:
        if config not in built_before:
            project = make_project(FILES, config=config)
            project.succeed("build", "--quiet")
            built_before[config] = tmp_path_factory.mktemp("built") / "project"
            shutil.move(project.root, built_before[config])
        return Project(built_before[config]).copy(tmp_path / "project")

    return make


def test_a_changed_key_changes_the_hash_or_is_exempt(make_project: MakeProject) -> None:
    project = make_project(FILES)
    wrong = []
    for key, (config, _, is_hashed) in CHANGES.items():
        (project.root / "foundry.toml").write_text(config, encoding="utf-8")
        before = load_config(project.root)
        apply(key, project)
        after = load_config(project.root)
        if before == after or (hash_config(before) != hash_config(after)) is not is_hashed:
            wrong.append(key)
    assert wrong == []


def resolved_places(kind: Any, path: str = "") -> Iterator[str]:
    """Return every place in `Config` that can hold a value, through all tables."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, written in kind.model_fields.items():
            below = f"{path}.{name}".lstrip(".")
            yield below
            yield from resolved_places(written.annotation, below)
    elif get_origin(kind) in {tuple, Union, UnionType, Annotated}:
        for argument in get_args(kind):
            yield from resolved_places(argument, path)


def test_exemptions_exist_and_have_reasons() -> None:
    places = set(resolved_places(Config))
    assert "sources.requests_per_second" in places
    assert EXEMPT.keys() <= places
    assert all(EXEMPT.values())


def test_every_other_place_is_hashed(make_project: MakeProject) -> None:
    found = set()
    for number, config in enumerate(sorted({config for config, _, _ in CHANGES.values()})):
        project = make_project(FILES, config=config, name=f"project{number}")
        found |= set(deciding_values(load_config(project.root)))
    expected = {
        place
        for place in resolved_places(Config)
        if not any(place == exempt or place.startswith(f"{exempt}.") for exempt in EXEMPT)
    }
    leaves = {place for place in expected if not any(o.startswith(f"{place}.") for o in expected)}
    leaves -= {"root", "search.fields.metadata"}
    assert leaves <= {key.replace("[0]", "") for key in found}


BUILDABLE = [key for key, (config, _, _) in CHANGES.items() if config.startswith((FOLDER, RECORDS))]
BUILDABLE = [key for key in BUILDABLE if CHANGES[key][0] not in {SERVICE, ENGINE}]


SEEN = [key for key in BUILDABLE if CHANGES[key][2]]
LAST_OF_TABLES = {key.rpartition(".")[0]: key for key in SEEN}
"""One key of each table, for a slower check; a table's keys affect a build in the same way."""


@pytest.mark.slow
@pytest.mark.parametrize("key", SEEN)
def test_the_next_build_sees_a_changed_key(key: str, make_built: MakeBuilt) -> None:
    project = make_built(CHANGES[key][0])
    before = snapshot(project.index)
    apply(key, project)
    answer = project.build()
    assert answer["unchanged"] is False
    assert snapshot(project.index) != before
    if key in LAST_OF_TABLES.values():
        fresh = project.without_state(project.root.with_name("fresh"))
        fresh.succeed("build", "--quiet")
        assert snapshot(project.index) == snapshot(fresh.index)


EXEMPT_KEYS = [key for key in BUILDABLE if not CHANGES[key][2]]


@pytest.mark.slow
@pytest.mark.parametrize("config", dict.fromkeys(CHANGES[key][0] for key in EXEMPT_KEYS))
def test_changes_of_exempt_keys_need_no_build(config: str, make_built: MakeBuilt) -> None:
    """All keys that can be combined are changed at once."""
    project = make_built(config)
    file = project.root / "foundry.toml"
    before = snapshot(project.index)
    waiting = [key for key in EXEMPT_KEYS if CHANGES[key][0] == config]
    while waiting:
        file.write_text(config, encoding="utf-8")
        changed = [key for key in waiting if is_applied(key, project)]
        assert changed
        waiting = [key for key in waiting if key not in changed]
        answer = project.build()
        assert answer["unchanged"] is True, changed
        assert snapshot(project.index) == before, changed
        fresh = project.without_state(project.root.with_name("fresh"))
        fresh.succeed("build", "--quiet")
        assert snapshot(fresh.index) == before, changed


def is_applied(key: str, project: Project) -> bool:
    """Write the other value of a key; returns whether the file is still valid."""
    file = project.root / "foundry.toml"
    kept = file.read_text(encoding="utf-8")
    apply(key, project)
    try:
        load_config(project.root)
    except ConfigError:
        file.write_text(kept, encoding="utf-8")
        return False
    return True


@pytest.fixture
def built(make_built: MakeBuilt) -> Project:
    return make_built(CONFIG)


def change(project: Project, added: str) -> None:
    file = project.root / "foundry.toml"
    file.write_text(file.read_text(encoding="utf-8") + added, encoding="utf-8")


SMALLER = "[chunking]\nmax_chars = 100\n"
SAID = "chunking.max_chars was 1200 and is now 100"


def test_smaller_chunks_are_created_by_the_next_build(built: Project) -> None:
    before = json.loads((built.index / "manifest.json").read_bytes())["chunks"]
    change(built, SMALLER)
    built.succeed("build", "--quiet")
    assert json.loads((built.index / "manifest.json").read_bytes())["chunks"] > before


def test_queries_warn_until_the_index_is_rebuilt(built: Project) -> None:
    assert built.succeed("query", "seal").stderr == ""
    change(built, SMALLER)
    for command in (["query", "seal", "--json"], ["eval", "--quiet", "--json"]):
        result = built.succeed(*command)
        assert f"foundry.toml: has changed since the index was built:\n  {SAID}\n" in result.stderr
        assert f"foundry build {built.root}" in result.stderr
        json.loads(result.stdout)
    built.succeed("build", "--quiet")
    assert built.succeed("query", "seal").stderr == ""


def test_long_values_are_shortened(built: Project) -> None:
    change(built, f'tags = ["{"a" * 70}"]\n')
    shown = f'sources[0].tags was [] and is now ["{"a" * 55}...\n'
    assert shown in built.succeed("query", "seal").stderr


def test_a_stale_index_is_exported_only_if_asked_for(built: Project) -> None:
    exported = built.export()
    change(built, SMALLER)
    before = snapshot(built.root)
    for command, *arguments in (["export"], ["export", "--check"], ["publish"]):
        result = built.run(command, *arguments)
        assert result.exit_code in {1, 2}, result.output
        assert command == "publish" or SAID in result.stderr
    result = CliRunner().invoke(main, ["update", str(exported)])
    assert result.exit_code == 1
    assert SAID in result.stderr
    assert {k: v for k, v in snapshot(built.root).items() if "lock" not in k} == {
        k: v for k, v in before.items() if "lock" not in k
    }
    built.succeed("export", "--stale")
    built.succeed("build", "--quiet")
    built.succeed("export")


def test_changes_of_server_settings_cause_no_warning(built: Project) -> None:
    change(built, '[server]\nport = 8123\n[search]\nfusion = "rrf"\n')
    assert built.succeed("query", "seal").stderr == ""
    exported = built.export()
    assert json.loads((exported / "notes" / "settings.json").read_bytes())["port"] == 8123


def test_sources_are_compared_one_by_one(built: Project) -> None:
    source = '[[sources]]\ntype = "folder"\nname = "more"\npath = "others"\n'
    change(built, source)
    said = built.succeed("query", "seal").stderr
    assert "  sources[1] is new\n" in said
    assert "sources[1].path" not in said
    change(built, 'tags = ["x"]\n')
    built.succeed("build", "--quiet")
    (built.root / "foundry.toml").write_text(CONFIG + source, encoding="utf-8")
    said = built.succeed("query", "seal").stderr
    lines = [line.strip() for line in said.splitlines()]
    assert [line for line in lines if " and is now " in line] == [
        'sources[1].tags was ["x"] and is now []'
    ]


@pytest.mark.parametrize("content", [None, b"[1]", b"{}", b"\xff"])
def test_without_its_record_the_index_still_counts_as_outdated(
    content: bytes | None, built: Project
) -> None:
    record = built.root / ".foundry" / "configuration.json"
    record.unlink()
    if content is not None:
        record.write_bytes(content)
    assert built.succeed("query", "seal").stderr == ""
    change(built, SMALLER)
    assert "an input of the index" in built.succeed("query", "seal").stderr
    assert built.run("export").exit_code == 1
    built.succeed("build", "--quiet")
    assert built.succeed("query", "seal").stderr == ""


def test_moving_a_project_changes_nothing(built: Project) -> None:
    moved = Project(built.root.rename(built.root.with_name("moved")))
    assert moved.succeed("query", "seal").stderr == ""
    assert moved.build()["unchanged"]
