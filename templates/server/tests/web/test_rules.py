"""Which rule applies to a request, and how rules are parsed."""

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.index.reader import Served, served
from foundry.runtime.retrieval.own_statistics import TermCounts
from foundry.runtime.web.filtered import schema_index
from foundry.runtime.web.rights import NOTHING, ByRights, Rights

TOKEN, OTHER = "t" * 32, "o" * 32
SALES, LAB = {"tags": ["sales"]}, {"tags": ["lab"]}
BY_RULE = Rights.rule_of  # An export's `conftest.py` replaces it, so that tests see everything.
WHOLE: Any = object()
"""The index of all documents."""


def digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


@pytest.fixture(autouse=True)
def views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rules apply, and let views be tuples of the arguments from which they are made."""
    monkeypatch.setattr(Rights, "rule_of", BY_RULE)
    name = "foundry.runtime.web.rights"
    monkeypatch.setattr(f"{name}.view_of", lambda index, filters: (index, filters))
    own = lambda index, filters: (index, filters, "own")  # noqa: E731
    monkeypatch.setattr(f"{name}.view_by_own_statistics", own)
    for variable in ("ACCESS_TOKENS", "ACCESS_FILE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path, default: str = "nothing", statistics: str = "all") -> Path:
    """The settings of a server with two rules."""
    rules = [{"name": "sales", "filters": SALES}, {"name": "lab", "filters": LAB}]
    values = {"access_rules": rules, "access_default": default, "access_statistics": statistics}
    (folder / "settings.json").write_text(json.dumps(values))
    return folder / "settings.json"


def request(*authorization: str, path: str = "/search", kind: str = "http") -> Scope:
    headers = [(b"authorization", value.encode()) for value in authorization]
    return {"type": kind, "path": path, "headers": headers}


def seen(rights: Rights, scope: Scope, index: Any = WHOLE) -> Any:
    """Return the application's view of the index while it handles a request."""
    found = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(rights.view(index))

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    asyncio.run(ByRights(application, rights)(scope, receive, send))
    (one,) = found
    return one


RIGHTS = {bytes.fromhex(digest(TOKEN)): "sales", bytes.fromhex(digest(OTHER)): "lab"}


def rights(default: str | None = NOTHING) -> Rights:
    return Rights({"sales": SALES, "lab": LAB}, RIGHTS, default)


NOBODY = f"Bearer {'u' * 32}"


@pytest.mark.parametrize(
    ("sent", "view"),
    [
        ([f"Bearer {TOKEN}"], (WHOLE, SALES)),
        ([f"Bearer {OTHER}"], (WHOLE, LAB)),
        # Tokens without a rule, headers without a bearer token, no header, and two tokens.
        *(([sent], (WHOLE, None)) for sent in (NOBODY, f"Basic {TOKEN}", TOKEN, "Bearer")),
        ([], (WHOLE, None)),
        ([f"Bearer {TOKEN}", f"Bearer {TOKEN}"], (WHOLE, None)),
        ([f"Bearer {TOKEN}, {OTHER}"], (WHOLE, None)),
    ],
)
def test_a_token_sees_what_its_rule_lets_through(sent: list[str], view: Any) -> None:
    several = rights()
    assert seen(several, request(*sent)) == view
    # Outside of requests, everything is seen.
    assert several.view(WHOLE) is WHOLE


@pytest.mark.parametrize(("default", "refused"), [(NOTHING, True), (None, False)])
def test_those_without_a_rule_see_what_the_owner_says(default: str | None, refused: bool) -> None:
    other = (WHOLE, None) if refused else WHOLE
    for sent in ([], [NOBODY]):
        assert seen(rights(default), request(*sent)) == other
        metrics = request(*sent, path="/metrics")
        if not refused:
            assert seen(rights(default), metrics) is WHOLE
            continue
        with pytest.raises(HTTPException, match="403: This token has no access"):
            seen(rights(default), metrics)
    assert seen(rights(default), request(f"Bearer {TOKEN}")) == (WHOLE, SALES)
    with pytest.raises(HTTPException, match="403: This token has no access"):
        seen(rights(default), request(f"Bearer {TOKEN}", path="/metrics"))


def test_what_is_no_request_sees_everything() -> None:
    """The server loads the index at start-up, outside of any request."""
    assert seen(rights(), request(kind="lifespan")) is WHOLE


def test_after_a_request_that_failed_its_rule_is_forgotten() -> None:
    several = rights()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    async def serve() -> None:
        with pytest.raises(ZeroDivisionError):
            await ByRights(application, several)(request(), None, None)  # type: ignore[arg-type]
        assert several.view(WHOLE) is WHOLE

    asyncio.run(serve())


def test_a_view_is_made_once_for_each_index() -> None:
    one = rights()
    first = seen(one, request(f"Bearer {TOKEN}"))
    assert seen(one, request(f"Bearer {TOKEN}")) is first
    other: Any = object()
    assert seen(one, request(f"Bearer {TOKEN}"), other) == (other, SALES)
    assert seen(one, request(f"Bearer {OTHER}"), other) == (other, LAB)


def test_the_settings_say_what_rules_let_through(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCESS_TOKENS", f"sales={digest(TOKEN)}")
    read = Rights.read(file)
    assert read.rules == {"sales": SALES, "lab": LAB}
    assert read.tokens == {bytes.fromhex(digest(TOKEN)): "sales"}
    assert seen(read, request(f"Bearer {TOKEN}")) == (WHOLE, SALES)
    assert seen(read, request(f"Bearer {OTHER}")) == (WHOLE, None)
    assert seen(read, request()) == (WHOLE, None)
    assert seen(Rights.read(written(file.parent, default="all")), request()) is WHOLE


def test_the_settings_may_have_scores_depend_on_what_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCESS_TOKENS", f"sales={digest(TOKEN)}")
    own = Rights.read(written(tmp_path, statistics="visible"))
    assert seen(own, request(f"Bearer {TOKEN}")) == (WHOLE, SALES, "own")
    assert (opened(own), opened(rights())) == ([TermCounts.open], [])


def opened(rights: Rights) -> list[object]:
    """Return the parts that are opened together with an index for views of these rights."""
    found: list[object] = []
    index: Any = SimpleNamespace(part=found.append)
    rights.prepare(index)
    return found


@pytest.mark.parametrize("written", ["sales={}", " sales = {} ", "lab={},sales={}", ",sales={},,"])
@pytest.mark.parametrize("one", [digest(TOKEN), digest(TOKEN).upper()])
def test_entries_of_the_environment(
    written: str, one: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "ACCESS_TOKENS", written.replace("lab={}", f"lab={digest(OTHER)}").format(one)
    )
    assert Rights.read(file).tokens[bytes.fromhex(one)] == "sales"


def test_the_environment_and_a_file_add_up(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["# Of 2026", "", f"  lab={digest(OTHER)}  ", "  # none"]
    (tmp_path / "access").write_text("\n".join(lines))
    monkeypatch.setenv("ACCESS_FILE", str(tmp_path / "access"))
    monkeypatch.setenv("ACCESS_TOKENS", f"sales={digest(TOKEN)}")
    assert Rights.read(file).tokens == RIGHTS


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (f"buyers={digest(TOKEN)}", "unknown rule 'buyers'"),
        (f"sales={digest(TOKEN)[:-1]}", "an entry is not rule=sha256"),
        (f"sales={digest(TOKEN)}0", "an entry is not rule=sha256"),
        (f"sales={TOKEN}", "an entry is not rule=sha256"),
        (digest(TOKEN), "an entry is not rule=sha256"),
        (f"={digest(TOKEN)}", "an entry is not rule=sha256"),
    ],
    ids=["unknown_rule", "short_digest", "long_digest", "token", "no_rule", "empty_rule"],
)
def test_a_wrong_entry_is_refused_where_it_is(
    entry: str, said: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCESS_TOKENS", entry)
    with pytest.raises(ConfigurationError, match=f"^ACCESS_TOKENS: {said}") as caught:
        Rights.read(file)
    assert caught.value.hint is not None and "write rule=sha256" in caught.value.hint
    assert TOKEN not in f"{caught.value.message} {caught.value.hint}"
    monkeypatch.delenv("ACCESS_TOKENS")
    path = tmp_path / "access"
    path.write_text(f"# One\n{entry}\n")
    monkeypatch.setenv("ACCESS_FILE", str(path))
    with pytest.raises(ConfigurationError, match=f"access, line 2: {said}") as caught:
        Rights.read(file)
    assert caught.value.message.startswith("ACCESS_FILE: ")


def test_a_file_that_cannot_be_read_is_refused(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCESS_FILE", str(tmp_path / "absent"))
    with pytest.raises(
        ConfigurationError, match=r"^ACCESS_FILE: .*absent: .*No such file"
    ) as caught:
        Rights.read(file)
    assert caught.value.hint is not None and "write rule=sha256" in caught.value.hint
    (tmp_path / "absent").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"^ACCESS_FILE: "):
        Rights.read(file)


def test_settings_without_rules_are_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(ConfigurationError):
        Rights.read(tmp_path / "settings.json")


def test_rights_decide_what_the_process_serves() -> None:
    own = Served(lambda _: WHOLE)
    own.viewer = rights()
    own.load(Path(), verify=False)
    found = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        found.append((own.current(), own.public()))

    asyncio.run(ByRights(application, own.viewer)(request(f"Bearer {TOKEN}"), None, None))  # type: ignore[arg-type]
    assert found == [((WHOLE, SALES), (WHOLE, None))]
    assert own.current() is WHOLE


def test_everybody_sees_nothing_also_where_all_others_see_everything() -> None:
    assert rights(None).public(WHOLE) == (WHOLE, None)


def test_schemas_name_what_everybody_sees() -> None:
    assert schema_index == served.public
