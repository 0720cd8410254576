"""The tutorial from its first command to its last, and each recipe.

External programs are replaced as docs/recipes.md says: OpenAI's own client calls a real server, a
server on loopback imitates Ollama, and LangChain and LlamaIndex are three classes each.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from doc_examples import EXAMPLES, QUESTIONS, ROOT, Example, check_transcript, make_home, run
from language_models import answer, language_model
from servers import in_checkout, serving

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

LANGCHAIN = {
    "langchain_core/documents.py": """
from dataclasses import dataclass, field
@dataclass
class Document:
    page_content: str
    metadata: dict = field(default_factory=dict)
""",
    "langchain_core/retrievers.py": """
class BaseRetriever:
    def invoke(self, query):
        return self._get_relevant_documents(query, run_manager=None)
""",
}
LLAMA_INDEX = {
    "llama_index/core/retrievers.py": """
from types import SimpleNamespace
class BaseRetriever:
    def retrieve(self, query):
        return self._retrieve(SimpleNamespace(query_str=query))
""",
    "llama_index/core/schema.py": """
from dataclasses import dataclass
@dataclass
class TextNode:
    text: str
@dataclass
class NodeWithScore:
    node: TextNode
    score: float
""",
}


def of_page(page: str) -> list[Example]:
    return [each for each in EXAMPLES if each.page == page]


def recipe(language: str, word: str) -> str:
    [found] = (
        each.text
        for each in of_page("recipes.md")
        if each.language == language and word in each.text
    )
    return found


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    shutil.copy(QUESTIONS, home)
    configuration = home / "handbook" / "foundry.toml"
    as_written = ""
    tried = 0
    for example in of_page("tutorial.md"):
        if example.language == "console":
            check_transcript(example, home)
            tried += 1
            if as_written:
                # As the page says: "Remove the line again."
                configuration.write_text(as_written, encoding="utf-8")
        elif example.language == "toml":
            as_written = configuration.read_text(encoding="utf-8")
            assert "\n[search]\n" in as_written
            changed = as_written.replace("\n[search]\n", f"\n{example.text}")
            configuration.write_text(changed, encoding="utf-8")
        elif example.language == "python":
            custom = home / "handbook" / "dist" / "handbook" / "handbook" / "custom.py"
            assert custom.exists()
            custom.write_text(example.text, encoding="utf-8")
    assert tried == 5
    with serving(in_checkout(home / "handbook" / "dist" / "handbook")) as address:
        done = subprocess.run(
            ["curl", "-s", f"{address}/opening-hours"], capture_output=True, check=True
        )
    assert json.loads(done.stdout) == {"monday to friday": "9 to 17"}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The export used by the recipes."""
    home = make_home(tmp_path_factory.mktemp("recipes"))
    run("foundry init handbook --source docs", home)
    configuration = home / "handbook" / "foundry.toml"
    text = configuration.read_text(encoding="utf-8")
    assert "\nlanguage_model = true" in text
    text = text.replace("\n[server]\n", "\n[server]\nopenai = true\n")
    configuration.write_text(text, encoding="utf-8")
    run("foundry build handbook && foundry export handbook", home)
    yield home / "handbook" / "dist" / "handbook"
    shutil.rmtree(home)


@pytest.mark.slow
def test_openai_client_and_requests_of_open_webui(
    export: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Imported here, because it takes half a second, and each test process loads every module.
    from openai import OpenAI

    given = re.findall(r"(OPENAI_API_\w+)=(\S+)", recipe("sh", "open-webui"))
    variables = dict(given)
    with serving(in_checkout(export)) as address:
        code = recipe("python", "OpenAI").replace("http://127.0.0.1:8000", address)
        subprocess.run([sys.executable, "-c", code], check=True)
        base = variables["OPENAI_API_BASE_URL"].replace("http://127.0.0.1:8000", address)
        client = OpenAI(base_url=base, api_key=variables["OPENAI_API_KEY"])
        [model] = client.models.list().data
        asked = [{"role": "user", "content": "When does methane stop the work?"}]
        stream = client.chat.completions.create(model=model.id, messages=asked, stream=True)  # type: ignore[call-overload]
        pieces = [each.choices[0].delta.content or "" for each in stream if each.choices]
    assert model.id == "handbook"
    printed = capfd.readouterr().out
    assert "it cuts the power" in printed
    assert "30 CFR 75.342 Methane monitors" in printed
    assert "".join(pieces).strip() == printed.strip()


@pytest.mark.slow
def test_ollama_generates_answers(export: Path) -> None:
    written = recipe("sh", "ollama pull")
    variables = dict(re.findall(r"(LLM_\w+)=(\S+)", written))
    assert re.search(r"ollama pull (\S+)", written)[1] == variables["LLM_MODEL"]  # type: ignore[index]
    assert variables["LLM_BASE_URL"] == "http://127.0.0.1:11434/v1"
    question = {"messages": [{"role": "user", "content": "How much fresh air?"}]}
    with language_model(answer("Nine thousand. [1]")) as model:
        variables["LLM_BASE_URL"] = model.base_url
        with serving(in_checkout(export), **variables) as address:
            asked = ["curl", "-sN", f"{address}/chat", "-H", "Content-Type: application/json"]
            done = subprocess.run(
                [*asked, "-d", json.dumps(question)], capture_output=True, text=True, check=True
            )
    [call] = model.calls
    assert (call.path, call.body["model"]) == ("/v1/chat/completions", variables["LLM_MODEL"])
    assert "Nine thousand." in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "lines", "modules", "ask"),
    [
        (
            "langchain",
            7,
            LANGCHAIN,
            'for found in Handbook().invoke("How much fresh air?"):'
            ' print(found.metadata["source"], found.page_content[:20].splitlines())',
        ),
        (
            "llama_index",
            6,
            LLAMA_INDEX,
            'for found in Handbook().retrieve("How much fresh air?"):'
            " print(found.score, found.node.text[:20].splitlines())",
        ),
    ],
)
def test_retrievers_return_the_servers_results(
    library: str, lines: int, modules: dict[str, str], ask: str, export: Path, tmp_path: Path
) -> None:
    code = recipe("python", library)
    assert len(code.splitlines()) == lines
    for name, text in modules.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = f"{tmp_path}{os.pathsep}{export}"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ask}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert len(printed) == (5 if library == "langchain" else 10)
    command = [*in_checkout(export), "search", "How much fresh air?", "--top-k", "1", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    [best] = found["results"]
    first = best["path"] if library == "langchain" else str(best["score"])
    assert printed[0] == f"{first} {best['text'][:20].splitlines()}"


def test_uvx_gets_the_exports_folder_and_command() -> None:
    """Exports are installed, and their commands run, by tests/test_golden.py."""
    written = recipe("sh", "uvx --from ./handbook").splitlines()[1].partition("#")[0]
    assistant = json.loads(recipe("json", "uvx"))["mcpServers"]["handbook"]
    assert shlex.split(written)[3:] == ["handbook", "serve"]
    assert assistant["args"][2:] == ["handbook", "mcp"]
    assert assistant["args"][1] == "/home/you/handbook/dist/handbook"


def test_the_proxys_compose_file_matches_the_compose_specification(tmp_path: Path) -> None:
    [text] = (each.text for each in of_page("deploying.md") if each.language == "yaml")
    (tmp_path / "compose.yaml").write_text(text, encoding="utf-8")
    command = [
        Path(sys.executable).with_name("check-jsonschema"),
        "--builtin-schema",
        "vendor.compose-spec",
    ]
    subprocess.run([*command, tmp_path / "compose.yaml"], check=True)
    services = yaml.safe_load(text)["services"]
    assert services["handbook"]["environment"]["INDEX_DIR"] == "/index"
    assert services["handbook"]["volumes"] == ["./handbook/.foundry/index:/index:ro"]


def test_symptoms_quote_the_messages() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("foundry", "templates")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )
    said = re.sub(r'"\s+f?"', "", source)
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    firsts = re.findall(r"(?m)^\| (.+?) \|", page)
    quoted = [text for first in firsts for text in re.findall(r"`([^`]+)`", first)]
    assert len(quoted) > 10
    assert not [text for text in quoted if text not in said]
