"""Pinned answers: from foundry.toml through a build to every interface."""

import hashlib

import pytest
from conftest import CONFIG, MakeProject, Project
from small_indexes import client_of, imported

from foundry.config.project import load_config
from foundry.errors import ConfigError

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "access.md": "---\ntags: [it]\n---\n# Remote access\n\nInstall the client.\n\n## Tokens\n\n"
    "Plug in the token.",
    "phones.md": "# Phones\n\nDial nine. The vpn of phones is another thing.",
    "copy.md": "# Phones\n\nDial nine. The vpn of phones is another thing.",
    "pumps.md": "# Pumps\n\nOil every pump.",
}
PINS = """
[[search.pinned.answers]]
query = "What is the VPN?"
document = "access.md"

[[search.pinned.answers]]
query = "wlan"
document = "pumps.md"

[[search.pinned.answers]]
query = "wlan"
document = "https://docs.example/access.md"
"""
BASE = CONFIG.replace('path = "sources"', 'path = "sources"\nbase_url = "https://docs.example/"')


def make(make_project: MakeProject, pins: str, more: str = "") -> Project:
    return make_project(FILES, config=f"{BASE}\n{more}\n{pins}")


def test_pinned_documents_come_first_and_are_marked(make_project: MakeProject) -> None:
    project = make(make_project, PINS, "[search.correction]\n[search.operators]\n")
    project.succeed("build", "--quiet")
    found = project.ask("vpn")
    first, second = found["results"][:2]
    assert (first["path"], first["pinned"], first["score"]) == ("access.md", True, 1)
    assert (second["path"], "pinned" in second) == ("copy.md", False)
    assert found["match"] == "strong"
    assert found["stages"]["pinned"] == {"documents": 1}
    # No document has the word, and it is not corrected to another.
    found = project.ask("WLAN!")
    assert [hit["path"] for hit in found["results"][:2]] == ["pumps.md", "access.md"]
    assert "correction" not in found["stages"]
    assert found["match"] == "strong"
    # Filters and operators still apply.
    found = project.ask("wlan", "--filter", "tags=it")
    assert {hit["path"] for hit in found["results"]} == {"access.md"}
    found = project.ask("wlan -pump")
    assert [hit["path"] for hit in found["results"] if "pinned" in hit] == ["access.md"]
    said = project.succeed("query", "wlan").output
    assert said.count("pinned by the owner") == 2
    assert not any("pinned" in hit for hit in project.ask("vpn of phones")["results"])


@pytest.mark.parametrize("duplicates", ["exact", "keep"])
def test_a_pinned_copy_lists_the_other(duplicates: str, make_project: MakeProject) -> None:
    pins = '[[search.pinned.answers]]\nquery = "dial"\ndocument = "copy.md"\n'
    project = make(make_project, pins, f'[build]\nduplicates = "{duplicates}"\n')
    project.succeed("build", "--quiet")
    first, *others = project.ask("dial")["results"]
    places = {first["path"], *(place["path"] for place in first["also_at"])}
    assert (first["pinned"], places) == (True, {"copy.md", "phones.md"})
    assert not places & {hit["path"] for hit in others}
    # If both copies are indexed, the pinned one is shown.
    assert first["path"] == "copy.md" or duplicates == "exact"


def test_every_interface_returns_pinned_documents(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(make_project, PINS)
    project.succeed("build", "--quiet")
    with imported(project.export(), "notes") as server:
        for mode in ("semantic", "keyword"):
            response = server.search_hybrid("wlan", mode=mode)
            assert [hit.path for hit in response.hits if hit.pinned] == ["pumps.md", "access.md"]
        assert [hit.path for hit in server.search_hybrid("wlan", 1).hits] == ["pumps.md"]
        client = client_of(server)
        assert client.get("/search?q=wlan").json()["results"][0]["pinned"] is True
        call = {"name": "search", "arguments": {"query": "wlan"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accepted = {"Accept": "application/json, text/event-stream"}
        told = client.post("/mcp", json=message, headers=accepted).json()["result"]
        passages = told["structuredContent"]["results"][:3]
        assert [passage.get("pinned") for passage in passages] == [True, True, None]
        asked = {"messages": [{"role": "user", "content": "wlan"}]}
        assert '"path":"pumps.md"' in client.post("/chat", json=asked).text.replace(" ", "")


RIGHTS = """
[build]
duplicates = "keep"

[server]
access = true
access_rules = [{ name = "it", filters = { tags = "it" } }]
"""


def test_a_pinned_document_is_shown_to_those_who_may_see_it(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(make_project, PINS, RIGHTS)
    project.succeed("build", "--quiet")
    token = "it-" + "x" * 40
    monkeypatch.setenv("API_TOKENS", token)
    monkeypatch.setenv("ACCESS_TOKENS", f"it={hashlib.sha256(token.encode()).hexdigest()}")
    with imported(project.export(), "notes") as server:
        client = client_of(server)
        found = client.get("/search?q=wlan", headers={"Authorization": f"Bearer {token}"}).json()
    assert [hit["path"] for hit in found["results"] if "pinned" in hit] == ["access.md"]
    assert {hit["path"] for hit in found["results"]} == {"access.md"}
    assert found["stages"]["pinned"] == {"documents": 1}


def test_a_name_of_no_document_fails_the_build_with_a_suggestion(
    make_project: MakeProject,
) -> None:
    project = make(make_project, PINS)
    project.succeed("build", "--quiet")
    before = project.ask("wlan")["results"][0]["id"]
    pins = PINS.replace('"access.md"', '"acess.md"').replace('"pumps.md"', '"zzz"')
    (project.root / "foundry.toml").write_text(f"{BASE}\n{pins}", encoding="utf-8")
    result = project.run("build", "--quiet")
    assert result.exit_code == 2
    assert (
        "search.pinned.answers[0].document: no document is called 'acess.md';"
        " did you mean 'access.md'?\n" in result.stderr
    )
    assert "search.pinned.answers[1].document: no document is called 'zzz'\n" in result.stderr
    # The published index is kept.
    (project.root / "foundry.toml").write_text(f"{BASE}\n{PINS}", encoding="utf-8")
    assert project.ask("wlan")["results"][0]["id"] == before


def test_a_path_in_two_sources_is_refused(make_project: MakeProject) -> None:
    more = '[[sources]]\ntype = "folder"\nname = "more"\npath = "more"\n'
    pins = '[[search.pinned.answers]]\nquery = "oil"\ndocument = "pumps.md"\n'
    files = {**FILES, "./more/pumps.md": "# Other pumps\n\nGrease them."}
    project = make_project(files, config=f"{CONFIG}\n{more}{pins}")
    result = project.run("build", "--quiet")
    assert result.exit_code == 2
    said = "search.pinned.answers[0].document: 'pumps.md' names 2 documents; write the id of one: "
    assert said in result.stderr
    ids = result.stderr.partition(said)[2].split("\n")[0].split(", ")
    file = project.root / "foundry.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"pumps.md"', f'"{ids[1]}"'))
    project.succeed("build", "--quiet")
    assert project.ask("oil")["results"][0]["document_id"] == ids[1]


REFUSED = {
    "no_words": (
        'answers = [{ query = "?!", document = "a" }]',
        "answers[0].query: '?!' has no searchable word, or too many",
    ),
    "twice": (
        'answers = [{ query = "pump", document = "b" }, { query = "The Pumps?", document = "b" }]',
        "answers[1]: 'b' is pinned to this query twice",
    ),
    "too_many": (
        "answers = ["
        + ", ".join(f'{{ query = "a pump", document = "{n}" }}' for n in range(7))
        + "]",
        "answers[5]: is answer 6 to this query; at most 5 are allowed",
    ),
    "nothing": ("answers = []", "answers: "),
    "empty": ('answers = [{ query = "", document = "" }]', "answers[0].document: "),
    "missing": ("", "answers: required, but missing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_pins_are_refused(case: str, make_project: MakeProject) -> None:
    table, message = REFUSED[case]
    project = make_project(FILES, config=f"{CONFIG}\n[search.pinned]\n{table}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(project.root)
    assert sum(message in problem for problem in caught.value.problems) == 1
