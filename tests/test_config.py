"""foundry.toml: all problems are reported together, with their location, and nothing is written."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject

from foundry.cli.main import main
from foundry.config.file import ConfigFile
from foundry.config.project import load_config
from foundry.config.search import DEFAULT_WEIGHTS
from foundry.config.sources import FolderSource, RecordsSource
from foundry.config.web_sources import SitemapSource, SiteSource

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers", "forked_readers")

NOTE = {"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"}
SOURCE = '[[sources]]\ntype = "folder"\npath = "sources"\n'
NAMED = '[project]\nname = "notes"\n'

PROBLEMS = {
    "unknown section": (
        CONFIG + "[serch]\n",
        ["serch: unknown key; did you mean 'search'? Known here: project, sources"],
    ),
    "unknown key": (
        CONFIG + "[search]\nfuse = 1\n",
        [
            "search.fuse: unknown key; did you mean 'fusion'?"
            " Known here: fusion, semantic_weight, keyword_weight"
        ],
    ),
    "unknown key of a source": (
        CONFIG + "glob = []\n",
        ["sources[0].glob: unknown key; known here: type, name, path, include"],
    ),
    "unknown key that is called like a type": (
        '[project]\nname = "notes"\nfolder = 1\n' + SOURCE,
        ["project.folder: unknown key"],
    ),
    "unknown type of source": (
        NAMED + '[[sources]]\ntype = "ftp"\npath = "sources"\n',
        ["sources[0].type: must be one of 'folder', 'records', 'git', 'url', 'sitemap', 'site'"],
    ),
    "source without a type": (
        NAMED + '[[sources]]\npath = "sources"\n',
        ["sources[0].type: must be one of 'folder', 'records', 'git', 'url', 'sitemap', 'site'"],
    ),
    "no sources": (NAMED, ["sources: required, but missing"]),
    "no project": (SOURCE, ["project: required, but missing"]),
    "wrong type": (CONFIG + '[server]\nport = "80"\n', ["server.port: ", "integer", "got '80'"]),
    "number for a list": (CONFIG + "tags = 3\n", ["sources[0].tags: ", "list", "got 3"]),
    "truth for a number": (CONFIG + "[server]\nport = true\n", ["server.port: ", "got True"]),
    "number for a truth": (
        CONFIG + "[search]\nidentifier_fallback = 1\n",
        ["search.identifier_fallback: ", "got 1"],
    ),
    "patterns that nothing reads": (
        CONFIG
        + '[embedding]\nprovider = "none"\n'
        + '[search]\nidentifier_patterns = ["Q[0-9]"]\nunknown_identifiers = false\n',
        ["search.identifier_patterns: does nothing with unknown_identifiers = false"],
    ),
    "stage that is unknown": (
        CONFIG + "[search.recent]\n",
        [
            "search.recent: unknown key; did you mean 'recency'? Known here: fusion, ",
            "recency, links",
        ],
    ),
    "unknown key of a stage": (
        CONFIG + "[search.recency]\nhalf_life = 3\n",
        [
            "search.recency.half_life: unknown key; did you mean 'half_life_days'?"
            " Known here: kind, tiers, half_life_days, floor"
        ],
    ),
    "key of the other kind": (
        CONFIG + '[search.recency]\nkind = "decay"\ntiers = [{ days = 1, factor = 2.0 }]\n',
        ["search.recency.tiers: does nothing with kind = 'decay'; remove it"],
    ),
    "half-life of tiers": (
        CONFIG + "[search.recency]\nhalf_life_days = 3.0\nfloor = 0.5\n",
        ["search.recency.half_life_days: does nothing", "search.recency.floor: does nothing"],
    ),
    "tiers out of order": (
        CONFIG
        + "[search.recency]\ntiers = [{ days = 9, factor = 1.1 }, { days = 7, factor = 1.2 }]\n",
        ["search.recency.tiers: days must increase"],
    ),
    "unknown key of a tier": (
        CONFIG + "[search.recency]\ntiers = [{ days = 9, factor = 1.1, name = 'x' }]\n",
        ["search.recency.tiers[0].name: unknown key; known here: days, factor"],
    ),
    "factor that would punish": (
        CONFIG + "[search.anchors]\nfactor = 0.5\n",
        ["search.anchors.factor: ", "got 0.5"],
    ),
    "share above 1": (CONFIG + "[search.links]\nfactor = 1.5\n", ["search.links.factor: "]),
    "stages without vectors": (
        CONFIG + '[embedding]\nprovider = "none"\n[search.expansion]\n[search.adaptive_weights]\n',
        [
            "search.adaptive_weights: needs vectors, but embedding.provider is 'none'",
            "search.expansion: needs vectors",
        ],
    ),
    "column that no source keeps": (
        CONFIG + 'metadata = ["team"]\n[search]\nfilterable = ["product"]\n'
        "[search.fields]\nmetadata = { author = 2 }\n",
        [
            "search.filterable: no source keeps 'product';",
            "(kept now: 'team')",
            "search.fields.metadata: no source keeps 'author';",
        ],
    ),
    "column that is called like a filter": (
        CONFIG + 'metadata = ["path"]\n[search]\nfilterable = ["path"]\n',
        ["search.filterable: every index can be filtered by 'path' already"],
    ),
    "suffix of urls that there are none of": (
        CONFIG + 'url_suffix = "/"\n',
        ["sources[0].url_suffix: does nothing without base_url"],
    ),
    "field weight below 0": (
        CONFIG + "[search.fields]\ntitle = -1\n",
        ["search.fields.title: ", "got -1"],
    ),
    "options of doors that are left out": (
        CONFIG + "[server]\nchat = false\nmcp = false\nchat_instructions = 'x'\nopenai = true\n"
        "concurrent_chats = 2\nchat_requests_per_minute = 1\nconcurrent_mcp_calls = 16\n",
        [
            "server.openai: needs chat = true; set that, or remove openai",
            "server.chat_instructions: does nothing without language_model = true; set that",
            "server.concurrent_chats: does nothing",
            "server.chat_requests_per_minute: does nothing",
            "server.concurrent_mcp_calls: does nothing without mcp = true",
        ],
    ),
    "interfaces without what they need": (
        CONFIG + "[server]\ncallers = false\ndocuments = false\nrequests_per_minute = 1\n",
        [
            "server.requests_per_minute: does nothing without callers = true",
            "server.chat: needs callers = true; set that, or remove chat",
            "server.page: needs documents = true",
        ],
    ),
    "target that needs tokens": (
        CONFIG + "[server]\nmcp = false\nchat = false\ncallers = false\n"
        '[export]\ntargets = ["systemd", "docker"]\n',
        ["export.targets: 'docker' lets other machines reach the server"],
    ),
    "impossible port": (CONFIG + "[server]\nport = 70000\n", ["server.port: ", "65535"]),
    "impossible size": (CONFIG + "[chunking]\nmax_chars = 0\n", ["chunking.max_chars: ", "100"]),
    "unknown strategy": (
        CONFIG + '[chunking]\nstrategy = "magic"\n',
        ["chunking.strategy: ", "'headings', 'recursive', 'sentences'", "got 'magic'"],
    ),
    "overlap": (
        CONFIG + "[chunking]\nmax_chars = 200\noverlap = 200\n",
        ["chunking.overlap: must be smaller than chunking.max_chars (200), got 200"],
    ),
    "sizes of chunks without chunking": (
        CONFIG + '[chunking]\nstrategy = "none"\nmax_chars = 200\noverlap = 5\n',
        [
            "chunking.max_chars: does nothing with strategy 'none'; remove it",
            "chunking.overlap: does nothing with strategy 'none'; remove it",
        ],
    ),
    "texts to distil without distillation": (
        CONFIG + '[embedding]\nprovider = "transformer"\nmodel = "m"\nquery = "same"\n'
        "distillation_texts = 100\n",
        ["embedding.distillation_texts: does nothing with query 'same'; remove it"],
    ),
    "parent without its strategy": (
        CONFIG + "[chunking]\nparent_max_chars = 2000\n",
        ["chunking.parent_max_chars: only applies to strategy 'parent', not 'headings'"],
    ),
    "parent below its chunks": (
        CONFIG + '[chunking]\nstrategy = "parent"\nparent_max_chars = 300\n',
        ["chunking.parent_max_chars: must not be smaller than chunking.max_chars (400), got 300"],
    ),
    "too few tokens": (
        CONFIG + "[chunking]\nmax_tokens = 5\n",
        ["chunking.max_tokens: must be 0 for no limit, or at least 32, got 5"],
    ),
    "unknown language": (
        '[project]\nname = "notes"\nlanguage = "klingon"\n' + SOURCE,
        ["project.language: there is no stemmer for 'klingon'; write 'none', or one of"],
    ),
    "missing folder": (
        NAMED + '[[sources]]\ntype = "folder"\npath = "nowhere"\n',
        ["sources[0].path: no such folder: ", "nowhere"],
    ),
    "missing table": (
        NAMED + '[[sources]]\ntype = "records"\npath = "nowhere.csv"\n',
        ["sources[0].path: no such file: ", "nowhere.csv"],
    ),
    "table of another kind": (
        NAMED + '[[sources]]\ntype = "records"\npath = "sources/note.md"\n',
        ["sources[0].path: must end in .csv or .jsonl, got note.md"],
    ),
    "duplicate sources": (
        NAMED + SOURCE + SOURCE,
        ["sources[1].name: 'sources' is taken by another source"],
    ),
    "negative weight": (
        CONFIG + "[search]\nkeyword_weight = -0.1\n",
        ["search.keyword_weight: ", "got -0.1"],
    ),
    "weight that is no number": (
        CONFIG + "[search]\nsemantic_weight = nan\n",
        ["search.semantic_weight: ", "got nan"],
    ),
    "infinite weight": (CONFIG + "[search]\nsemantic_weight = inf\n", ["search.semantic_weight: "]),
    "weights whose sum overflows": (
        CONFIG + "[search]\nsemantic_weight = 1e308\nkeyword_weight = 1e308\n",
        ["search.semantic_weight: ", "search.keyword_weight: "],
    ),
    "no weight at all": (
        CONFIG + "[search]\nsemantic_weight = 0\nkeyword_weight = 0.0\n",
        ["search: semantic_weight and keyword_weight must not both be 0"],
    ),
    "weight above 1 by itself": (
        CONFIG + "[search]\nkeyword_weight = 3\n",
        ["search.keyword_weight: must be at most 1 if the other weight is not set", "got 3"],
    ),
    "rank constant of another fusion": (
        CONFIG + "[search]\nk = 10\n",
        ["search.k: only applies to fusion 'rrf', not 'linear'"],
    ),
    "rank constant of 0": (CONFIG + '[search]\nfusion = "rrf"\nk = 0\n', ["search.k: ", "got 0"]),
    "fusion without vectors": (
        CONFIG + '[search]\nfusion = "rrf"\nk = 9\nsemantic_weight = 1\nkeyword_weight = 1\n'
        '[embedding]\nprovider = "none"\n',
        [
            f"search.{key}: needs vectors"
            for key in ("fusion", "semantic_weight", "keyword_weight", "k")
        ],
    ),
    "bad pattern": (
        CONFIG + '[search]\nidentifier_patterns = ["ok", "(unclosed"]\n',
        ["search.identifier_patterns[1]: not a regular expression: '(unclosed'"],
    ),
    "every host": (
        CONFIG + '[server]\nallowed_hosts = ["docs.example.com:8443", "*", "https://x.org"]\n',
        [
            "server.allowed_hosts[1]: '*' is not a host name; write names like docs.example.com",
            "server.allowed_hosts[2]: 'https://x.org' is not a host name",
        ],
    ),
    "sites of anybody": (
        CONFIG + "[server]\nsearch_box = true\n"
        'allowed_origins = ["*", "null", "https://*.example", "file:///a", "https://a:b@x.example",'
        ' "https://X.example:443", "https://x.example/docs", "http://x.example:8080"]\n',
        [
            "server.allowed_origins[0]: '*' allows pages from any site; list each origin",
            "server.allowed_origins[1]: 'null' allows pages from any site",
            "server.allowed_origins[2]: 'https://*.example' allows pages from any site",
            "server.allowed_origins[3]: not an http or https url; write scheme and host, such as https://docs.example.com",
            "server.allowed_origins[4]: user name in the url; write scheme and host, such as https://docs.example.com",
            "server.allowed_origins[5]: 'https://X.example:443' is not an origin as browsers"
            " send it; write 'https://x.example'",
            "server.allowed_origins[6]: 'https://x.example/docs' is not an origin as browsers",
        ],
    ),
    "search box for nobody": (
        CONFIG + "[server]\nsearch_box = true\n",
        ["server.allowed_origins: is empty, so no site may search; add one, such as"],
    ),
    "sites without a search box": (
        CONFIG + '[server]\nallowed_origins = ["https://x.example"]\n',
        ["server.allowed_origins: does nothing without search_box = true; set that, or remove it"],
    ),
    "search box without what it leads to": (
        CONFIG + "[server]\nsearch_box = true\npage = false\n"
        'allowed_origins = ["https://x.example"]\n',
        ["server.search_box: needs page = true; set that, or remove search_box"],
    ),
    "secret of something else for a service": (
        CONFIG + '[embedding]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "https://x.example/v1"\napi_key_env = "AWS_SECRET_ACCESS_KEY"\n',
        ["embedding.api_key_env: 'AWS_SECRET_ACCESS_KEY' is not sent to a base_url"],
    ),
    "script as an address": (
        CONFIG + 'base_url = "javascript:alert(1)"\n',
        ["sources[0].base_url: not an http or https url; write an address like https://"],
    ),
    "password in an address": (
        CONFIG + 'base_url = "https://user:secret@example.com"\n',
        ["sources[0].base_url: user name in the url; write an address like https://"],
    ),
    "password in the address of a page": (
        NAMED + '[[sources]]\ntype = "url"\nurls = ["https://user:secret@example.com/a"]\n',
        ["sources[0].urls[0]: ", "user name in the url"],
    ),
    "password in the address of a sitemap": (
        NAMED + '[[sources]]\ntype = "sitemap"\nurl = "https://user:secret@example.com/a"\n',
        ["sources[0].url: ", "user name in the url"],
    ),
    "pattern that could hang": (
        CONFIG + "[search]\nidentifier_patterns = ['(?:[A-Z]+-?)+[0-9]+']\n",
        ["search.identifier_patterns[0]: may take too long on some queries: '(?:[A-Z]+-?)+[0-9]+'"],
    ),
    "broken TOML": ("[project\n", ["line 1"]),
    "key given twice": (NAMED + 'name = "again"\n' + SOURCE, ["line 3"]),
    "number too long to read": (CONFIG + f"max_bytes = {'9' * 5000}\n", ["digit"]),
    "very deep nesting": (CONFIG + f"tags = {'[' * 100_000}", [""]),
}

NAMES = {
    name: f'[project]\nname = "{name}"\n{SOURCE}'
    for name in ["", "x" * 10_000, "../x", "a b", "é", "x\\n", "A", "9to5", "a--b", "-a", "a."]
}
PACKAGES = [
    *("json", "class", "numpy", "foundry", "tests", "click", "typing_extensions", "pip", "mcp"),
    *("attr", "torch", "openai", "yaml", "pydantic_core", "sitecustomize", "usercustomize"),
]


@pytest.mark.parametrize("case", PROBLEMS)
def test_problem_is_located_and_nothing_is_written(case: str, make_project: MakeProject) -> None:
    config, expected = PROBLEMS[case]
    project = make_project(NOTE, config=config)
    for command in ("build", "export"):
        result = project.run(command)
        assert result.exit_code == 2, result.output
        assert "foundry.toml: " in result.stderr
        for part in expected:
            assert part in result.stderr
        assert "secret" not in result.stderr
        assert "Traceback" not in result.stderr
    assert sorted(path.name for path in project.root.iterdir()) == ["foundry.toml", "sources"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:9]))
def test_name_that_is_not_a_slug_is_refused(name: str, make_project: MakeProject) -> None:
    result = make_project(NOTE, config=NAMES[name]).run("build")
    assert result.exit_code == 2
    assert "project.name: " in result.stderr
    assert len(result.stderr) < 2_000 + len(name)


@pytest.mark.parametrize("location", ['type = "folder"\npath', 'type = "git"\nrepository'])
@pytest.mark.parametrize(("path", "name"), [(".", "handbook"), ("..", "work"), ("texts", "texts")])
def test_default_name_of_a_source_does_not_depend_on_the_working_folder(
    location: str, path: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "work" / "handbook"
    (project / "texts").mkdir(parents=True)
    written = f'{NAMED}[[sources]]\n{location} = "{path}"\n'
    (project / "foundry.toml").write_text(written, encoding="utf-8")
    for folder in (project, project.parent, tmp_path):
        monkeypatch.chdir(folder)
        (source,) = load_config(Path(os.path.relpath(project))).sources
        assert source.name == name


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("key", ["project.name", "export.package"])
def test_name_of_another_module_is_refused(
    key: str, package: str, make_project: MakeProject
) -> None:
    if key == "project.name":
        config = f'[project]\nname = "{package.replace("_", "-")}"\n' + SOURCE
    else:
        config = CONFIG + f'[export]\npackage = "{package}"\n'
    result = make_project(NOTE, config=config).run("build")
    assert result.exit_code == 2
    assert f"{key}: {package!r} is a Python module or keyword" in result.stderr


@pytest.mark.parametrize("package", ["a_", "a__b", "_a", "a-b", "é", "A", ""])
def test_package_that_cannot_be_rendered_is_refused(
    package: str, make_project: MakeProject
) -> None:
    result = make_project(NOTE, config=CONFIG + f'[export]\npackage = "{package}"\n').run("build")
    assert result.exit_code == 2
    assert "export.package: " in result.stderr


def test_all_problems_are_reported_at_once(make_project: MakeProject) -> None:
    config = CONFIG + "[search]\nfuse = 1\n[chunking]\nmax_chars = 1\n[server]\nport = 0\n"
    result = make_project(NOTE, config=config).run("build")
    assert "3 problems" in result.stderr
    config = CONFIG + '[chunking]\noverlap = 9000\n[search]\nidentifier_patterns = ["("]\n'
    result = make_project(NOTE, config=config, name="other").run("build")
    assert "2 problems" in result.stderr


def test_missing_file_has_a_hint_to_run_init(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["build", str(tmp_path)])
    assert result.exit_code == 2
    assert f"{tmp_path / 'foundry.toml'}: 1 problem\n  no such file" in result.stderr
    assert f"foundry init {tmp_path}" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"name = '\xff'", b"\xff\xfe[\x00p\x00", None])
def test_file_that_is_not_text_is_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "foundry.toml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    result = CliRunner().invoke(main, ["build", str(tmp_path)])
    assert result.exit_code == 2
    assert str(file) in result.stderr


def test_byte_order_mark_is_allowed(make_project: MakeProject) -> None:
    make_project(NOTE, config="\ufeff" + CONFIG).succeed("build", "--quiet")


@pytest.mark.parametrize("name", ["docs", "json", "Größe & Maß", "9", "x" * 200, "code"])
def test_init_writes_a_file_that_builds_as_it_is(name: str, tmp_path: Path) -> None:
    sources = tmp_path / "the sources"
    sources.mkdir()
    (sources / "a.md").write_text("# A\n\nSome text.\n", encoding="utf-8")
    project = tmp_path / name
    for command in (["init", "--source", str(sources)], ["build", "--quiet"]):
        result = CliRunner().invoke(main, [command[0], str(project), *command[1:]])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("t.csv", "id,title,text\n1,A,Some text\n"),
        ("t.jsonl", '{"id": "1", "text": "Some text"}\n'),
    ],
)
def test_init_for_a_table_writes_a_file_that_builds_as_it_is(
    file: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    project = tmp_path / "project"
    for command in (["init", "--source", str(tmp_path / file)], ["build", "--quiet"]):
        result = CliRunner().invoke(main, [command[0], str(project), *command[1:]])
        assert result.exit_code == 0, result.output


def test_init_refuses_what_it_cannot_do(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(NOTE)
    before = (project.root / "foundry.toml").read_bytes()
    result = project.run("init", "--source", str(project.root / "sources"))
    assert result.exit_code == 1
    assert "exists already" in result.stderr
    assert (project.root / "foundry.toml").read_bytes() == before

    link = tmp_path / "linked"
    link.mkdir()
    (link / "foundry.toml").symlink_to(tmp_path / "elsewhere")
    source = str(project.root / "sources")
    assert CliRunner().invoke(main, ["init", str(link), "--source", source]).exit_code == 1
    assert not (tmp_path / "elsewhere").exists()

    for missing, word in (("nowhere", "no such"), ("sources/note.md", "is one file")):
        arguments = ["init", str(tmp_path / "new"), "--source", str(project.root / missing)]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1
        assert word in result.stderr
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", (0.7, 0.3)),
        ("semantic_weight = 0.9\n", (0.9, 0.1)),
        ("keyword_weight = 0.9\n", (0.1, 0.9)),
        ('fusion = "rrf"\nkeyword_weight = 1\n', (0, 1)),
        ("semantic_weight = 3.0\nkeyword_weight = 5\n", (3, 5)),
    ],
)
def test_a_single_weight_determines_the_other(
    written: str, expected: tuple[float, float], make_project: MakeProject
) -> None:
    config = load_config(make_project(NOTE, config=f"{CONFIG}[search]\n{written}").root)
    assert config.weights == expected


def as_written(default: object) -> object:
    return list(default) if isinstance(default, tuple) else default


@pytest.mark.parametrize("kind", ["folder", "records", "site", "sitemap"])
def test_commented_options_show_their_true_defaults(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "a.md").write_text("# Seals\n", encoding="utf-8")
    if kind == "records":
        folder = folder / "t.csv"
        folder.write_text("id,text\n1,a\n", encoding="utf-8")
    urls = {"site": "https://docs.example.com", "sitemap": "https://docs.example.com/sitemap.xml"}
    project = tmp_path / "my docs"
    written = urls.get(kind, str(folder))
    result = CliRunner().invoke(main, ["init", str(project), "--source", written])
    assert result.exit_code == 0, result.output
    text = (project / "foundry.toml").read_text(encoding="utf-8")
    shown = tomllib.loads(re.sub(r"(?m)^# (?=\w+ = )", "", text))
    # Keys without a default are shown as an empty text.
    source = {key: value for key, value in shown["sources"][0].items() if value != ""}
    parsed = ConfigFile.model_validate({**shown, "sources": [source]})

    sections = {"chunking", "embedding", "search", "server", "export"}
    section_class = {
        "folder": FolderSource,
        "records": RecordsSource,
        "site": SiteSource,
        "sitemap": SitemapSource,
    }[kind]
    assert set(shown["sources"][0]) <= set(section_class.model_fields)
    for name in sections:
        fields = type(getattr(parsed, name)).model_fields
        assert shown[name]
        for key, value in shown[name].items():
            default = fields[key].default
            if key in {"assistants", "folders", "language_model"} or value == {}:
                # Values that only new projects get.
                continue
            if key in {"semantic_weight", "keyword_weight"}:
                default = dict(
                    zip(
                        ("semantic_weight", "keyword_weight"),
                        DEFAULT_WEIGHTS["linear"],
                        strict=True,
                    )
                )[key]
            if key == "package" or (name, key) == ("store", "name"):
                default = "my_docs"
            if key == "max_chars":
                default = 1200
            assert value == as_written(default), f"{name}.{key}"
    for key, value in shown["sources"][0].items():
        if key not in {"type", "path", "url"} or (key == "url" and kind == "records"):
            default = section_class.model_fields[key].default
            assert value == ("" if default is None else as_written(default)), key
    assert shown["project"]["language"] == type(parsed.project).model_fields["language"].default


def test_the_projects_own_files_are_not_documents(make_project: MakeProject) -> None:
    config = NAMED + '[[sources]]\ntype = "folder"\npath = "."\n'
    project = make_project({**NOTE, "./questions.jsonl": ""}, config=config)
    (project.root / "questions.jsonl").write_text(
        '{"query": "seal", "relevant": ["sources/note.md"]}\n', encoding="utf-8"
    )
    project.succeed("build", "--quiet")
    project.export()
    assert "(unchanged)" in project.succeed("build", "--quiet").output
    assert {hit["path"] for hit in project.ask("seal")["results"]} == {"sources/note.md"}
