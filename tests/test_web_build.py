"""Projects on the web, built through the command line."""

import json
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import MakeProject, Project
from sharing import begin_foundry
from waiting import wait_until
from web_sites import Reply, Request, Route, Site, canary, page, redirect, serving, text

from foundry.cli.main import main
from foundry.fetching.exchange import Answer, exchange
from foundry.fetching.network import Network
from foundry.urls import Url

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


def config_of(site: Site, *lines: str, kind: str = "site", url: str = "/") -> str:
    target = f'urls = ["{site.url}{url}"]' if kind == "url" else f'url = "{site.url}{url}"'
    return "\n".join(
        [
            '[project]\nname = "notes"\n\n[[sources]]',
            f'type = "{kind}"\nname = "web"\n{target}',
            "requests_per_second = 1000",
            *lines,
        ]
    )


def test_a_website_is_built_queried_and_rebuilt(site: Site, make_project: MakeProject) -> None:
    site.routes |= {
        "/": page("Home", "/pumps", "/gone", "/old"),
        "/pumps": page("Pumps", text="The centrifugal pump needs two litres of oil."),
        "/old": redirect("/pumps"),
    }
    project = make_project({}, config=config_of(site, "min_coverage = 0.6"))
    first = project.build(*site.allowing)
    assert first["documents"] == 2
    report = json.loads((project.index / "report.json").read_bytes())
    assert report["coverage"] == {
        "web": {
            "found": 4,
            "pages": 2,
            "markdown": 0,
            "refused": {"duplicate of another page": 1},
            "failed": {"status 404": 1},
            "coverage": 0.6667,
        }
    }
    hit = project.ask("oil for the centrifugal pump")["results"][0]
    assert (hit["title"], hit["url"]) == ("Pumps", f"{site.url}/pumps")
    second = project.build(*site.allowing)
    assert second["unchanged"]
    assert second["changes"]["web"] == {"web": {"fetched": 0, "unchanged": 2}}
    assert "fetched" in project.succeed("build", "--quiet", *site.allowing).stdout


def test_the_index_does_not_depend_on_cached_pages(site: Site, make_project: MakeProject) -> None:
    site.routes |= {"/": page("Home", "/a", "/b"), "/a": page("A"), "/b": page("B")}
    once = make_project({}, config=config_of(site))
    once.build(*site.allowing)
    twice = make_project({}, config=config_of(site), name="other")
    twice.build(*site.allowing)
    site.routes["/b"] = page("New B")
    twice.build(*site.allowing)
    once.build(*site.allowing)
    site.routes["/b"] = page("B")
    twice.build(*site.allowing)
    fresh = make_project({}, config=config_of(site), name="fresh")
    fresh.build(*site.allowing)
    assert {path.name: path.read_bytes() for path in fresh.index.iterdir() if path.is_file()} == {
        path.name: path.read_bytes() for path in twice.index.iterdir() if path.is_file()
    }


def test_a_language_that_is_not_the_assumed_one_is_named(
    site: Site, make_project: MakeProject
) -> None:
    prose = (
        "Die Pumpe darf nicht eingeschaltet werden, bevor das Ventil geöffnet ist. Wie das geht"
        " und was zu tun ist, wenn es nicht gelingt, wird auf dieser Seite mit Bildern erklärt."
    )
    site.routes |= {"/": page("Pumpe", "/b", text=prose), "/b": page("Ventil", text=prose)}
    project = make_project({}, config=config_of(site))
    said = project.succeed("build", "--quiet", *site.allowing).stderr
    assert "warning: the documents seem to be german (2 of 2 passages)" in said
    assert f'hint: {project.root / "foundry.toml"}: set language = "german" in [project]' in said
    assert project.succeed("build", "--quiet", *site.allowing).stderr == ""
    for language in ("german", "english"):
        text = config_of(site).replace("[[sources]]", f'language = "{language}"\n[[sources]]')
        (project.root / "foundry.toml").write_text(text)
        assert project.succeed("build", "--quiet", *site.allowing).stderr == ""


def test_a_failing_site_leaves_the_index(site: Site, make_project: MakeProject) -> None:
    site.routes |= {"/": page("Home", "/a", "/b"), "/a": page("A"), "/b": page("B")}
    project = make_project({}, config=config_of(site))
    project.build(*site.allowing)
    before = project.index
    site.routes["/b"] = Reply(b"", 501)
    result = project.run("build", "--quiet", *site.allowing)
    assert result.exit_code == 1
    assert "2 of 3 urls yielded a page, a coverage of 66.7%; min_coverage is 95.0%" in result.output
    assert f"{site.url}/b: status 501" in result.output
    assert project.index == before
    assert project.ask("all about A")["results"]


def kept_pages(project: Project) -> int:
    with closing(sqlite3.connect(project.root / ".foundry/web/pages.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])


def test_an_interrupted_build_is_continued(site: Site, make_project: MakeProject) -> None:
    count = 12
    interrupted = threading.Event()

    def route(number: int) -> Route:
        def answer(_: Request) -> Reply:
            is_slow = number >= 6 and not interrupted.is_set()
            return Reply(drips=True) if is_slow else page(f"Page {number}")

        return answer

    site.routes |= {f"/{n:02}": route(n) for n in range(count)}
    site.routes["/"] = page("Home", *(f"/{n:02}" for n in range(count)))
    project = make_project({}, config=config_of(site))
    process = subprocess.Popen(
        [*begin_foundry(), "build", str(project.root), *site.allowing],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    wait_until(lambda: len([path for path in site.paths() if path[1:].isdigit()]) == count)
    wait_until(lambda: kept_pages(project) == 7)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    interrupted.set()
    site.requests.clear()
    answer = project.build(*site.allowing)
    assert answer["documents"] == count + 1
    assert answer["changes"]["web"] == {"web": {"fetched": 6, "unchanged": 7}}
    assert all("if-none-match" in site.asked(f"/{n:02}")[0].headers for n in range(6))


def test_private_addresses_are_refused_by_default(tmp_path: Path) -> None:
    with canary() as silent:
        urls = ", ".join(
            f'"http://{host}:{silent.port}/"' for host in ("127.0.0.1", "localhost", "[::1]")
        )
        (tmp_path / "foundry.toml").write_text(
            f'[project]\nname = "x"\n[[sources]]\ntype = "url"\nname = "web"\nurls = [{urls}]\n'
        )
        result = CliRunner().invoke(main, ["build", str(tmp_path), "--quiet"])
        assert silent.visits() == 0
    assert result.exit_code == 1
    assert "3 x private address" in result.output
    assert "min_coverage; to allow this host, name it: --allow-private HOST" in result.output


CONTRADICTIONS = {
    'type = "url"\nurls = ["file:///etc/passwd"]': "sources[0].urls[0]: not an http or https url",
    'type = "url"\nurls = []': "sources[0].urls: ",
    'type = "url"\nurls = ["http://127.1/"]': "unusual spelling of an address",
    'type = "site"\nurl = "http://me:secret@x.example/"': "sources[0].url: user name in the url",
    'type = "site"\nurl = "http://x.example/"\nallow_private = ["y"]': "a project may not allow",
    'type = "site"\nurl = "http://x.example/"\nhosts = ["a b"]': "sources[0].hosts[0]: malformed",
    'type = "site"\nurl = "http://x.example/"\ninclude = ["docs/*"]': "must begin with /",
    'type = "site"\nurl = "http://x.example/"\nmin_coverage = 2': "sources[0].min_coverage",
    'type = "site"\nurl = "http://x.example/"\nrequests_per_second = 0': "requests_per_second",
    'type = "site"\nurl = "http://x.example/"\nuser_agent = "a\\r\\nb"': "sources[0].user_agent",
    'type = "sitemap"\nurl = "http://x.example/"\ndepth = 2': "sources[0].depth: unknown key",
    'type = "url"\nurls = ["http://x.example/"]\nhosts = []': "sources[0].hosts: unknown key",
    'type = "web"\nurl = "http://x.example/"': "'records', 'git', 'url', 'sitemap', 'site'",
}


@pytest.mark.parametrize("section", CONTRADICTIONS)
def test_invalid_sources_are_refused(section: str, tmp_path: Path) -> None:
    (tmp_path / "foundry.toml").write_text(f'[project]\nname = "x"\n[[sources]]\n{section}\n')
    result = CliRunner().invoke(main, ["build", str(tmp_path)])
    assert result.exit_code == 2
    assert CONTRADICTIONS[section] in result.output
    assert "secret@" not in result.output


def test_init_for_a_website(site: Site, tmp_path: Path) -> None:
    site.routes |= {"/docs/": page("Docs", "/docs/a", "/blog"), "/docs/a": page("A")}
    root = tmp_path / "project"
    done = CliRunner().invoke(main, ["init", str(root), "--source", f"{site.url}/docs/"])
    assert done.exit_code == 0, done.output
    file = root / "foundry.toml"
    assert 'type = "site"' in file.read_text()
    assert 'include = ["/docs/*"]' in file.read_text()
    file.write_text(
        file.read_text().replace("# requests_per_second = 5.0", "requests_per_second = 1000")
    )
    assert Project(root).build(*site.allowing)["documents"] == 2
    assert "/blog" not in site.paths()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://docs.example.com", "site"),
        ("https://docs.example.com/sitemap_index.xml.gz", "sitemap"),
    ],
)
def test_init_of_public_sites(url: str, kind: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    assert CliRunner().invoke(main, ["init", str(root), "--source", url]).exit_code == 0
    written = (root / "foundry.toml").read_text()
    assert f'type = "{kind}"' in written


@pytest.mark.parametrize("url", ["ftp://example.com/", "https://", "http://a:b@example.com/"])
def test_init_for_an_unreachable_website(url: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["init", str(tmp_path / "p"), "--source", url])
    assert result.exit_code == 1
    assert "a:b" not in result.output
    assert not (tmp_path / "p").exists()


@pytest.mark.slow
def test_pages_with_every_failure_are_counted(
    site: Site, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site has every kind of failure at once, and all numbers are known beforehand."""

    def hurry(network: Network, url: Url, *more: Any, seconds: float, **options: Any) -> Answer:
        # All other requests are waited for, however busy this machine is.
        assert seconds == 600.0
        seconds = 1.0 if url.target == "/slow" else seconds
        return exchange(network, url, *more, seconds=seconds, **options)

    monkeypatch.setattr("foundry.fetching.fetcher.exchange", hurry)
    pages = [f"/p{n:03}" for n in range(100)]
    site.routes |= {
        path: page(f"Page {path}", pages[(7 * n + 1) % 100]) for n, path in enumerate(pages)
    }
    redirects = {f"/r{n}": redirect(pages[n]) for n in range(10)}
    loops: dict[str, Route] = {f"/l{n}": redirect(f"/l{(n + 1) % 4}") for n in range(4)}
    troubles: dict[str, Route] = {
        "/slow": Reply(drips=True),
        "/huge": Reply(b"a" * 300_000),
        "/endless": Reply(endless=True),
        "/short": Reply(b"abc", length=9),
        "/empty": Reply(status=204, kind=None),
        "/busy": lambda request: (
            page("Busy at first")
            if request.number
            else Reply(status=429, headers={"Retry-After": "0"})
        ),
        "/secret": page("Secret"),
        "/away": redirect("http://example.com/"),
        "/metadata": redirect("http://169.254.169.254/"),
    }
    missing = [f"/m{n}" for n in range(16)]
    site.routes |= {**redirects, **loops, **troubles}
    entries = [*pages, *redirects, *loops, *troubles, *missing]
    assert len(entries) == 139
    index = "".join(f"<sitemap><loc>{site.url}/map{n}.xml</loc></sitemap>" for n in (0, 1, 2))
    index += f"<sitemap><loc>{site.url}/map.xml</loc></sitemap>"
    site.routes["/map.xml"] = text(f"<sitemapindex>{index}</sitemapindex>", "text/xml")
    for number in range(3):
        listed = "".join(f"<url><loc>{entry}</loc></url>" for entry in entries[number::3])
        site.routes[f"/map{number}.xml"] = text(f"<urlset>{listed}</urlset>", "text/xml")
    site.routes["/robots.txt"] = text("User-agent: *\nDisallow: /secret\n")
    lines = ("min_coverage = 0.7", "max_bytes = 200000", "timeout_seconds = 600.0")
    project = make_project({}, config=config_of(site, *lines, kind="sitemap", url="/map.xml"))
    first = project.build(*site.allowing)
    assert first["documents"] == 101
    report = json.loads((project.index / "report.json").read_bytes())
    assert report["coverage"]["web"] == {
        "found": 140,
        "pages": 101,
        "markdown": 0,
        "refused": {
            "disallowed by robots.txt": 1,
            "duplicate of another page": 10,
            "on another host": 1,
            "over the size limit": 2,
            "private address": 1,
            "sitemap: listed twice": 1,
        },
        "failed": {
            "answer was cut short": 1,
            "no content": 1,
            "redirect loop": 4,
            "status 404": 16,
            "too slow": 1,
        },
        "coverage": round(101 / 129, 4),
    }
    second = project.build(*site.allowing)
    assert second["changes"]["web"] == {"web": {"fetched": 0, "unchanged": 101}}
    assert second["unchanged"]
