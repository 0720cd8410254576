"""Writes the reference tables of docs/: configuration, commands, interfaces and answers.

Tables are between `<!-- reference: NAME -->` and `<!-- end -->`. Keys come from the models of
foundry.toml, commands from the command line, and endpoints and tools from a server built from
`golden/minimal`. With --check, the script writes nothing, and fails if a page differs.
"""

import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args, get_origin

import annotated_types
import click
from answer_fields import rows_of, rows_of_python
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from foundry import pipeline
from foundry.cli.main import GROUPS, load_command
from foundry.cli.main import main as main_command
from foundry.config.export import ExportSection
from foundry.config.file import (
    BuildSection,
    ChunkingSection,
    EmbeddingSection,
    ProjectSection,
    ServerSection,
)
from foundry.config.git_sources import GitSource
from foundry.config.project import LANGUAGES
from foundry.config.search import FieldsSection, SearchOptions
from foundry.config.sources import FolderSource, RecordsSource
from foundry.config.web_sources import DEFAULT_USER_AGENT, SitemapSource, SiteSource, UrlSource
from foundry.features.access import Access
from foundry.features.interfaces import INTERFACES
from foundry.features.search_box import SearchBox
from foundry.features.stages import STAGES
from foundry.features.stores import StoreSection
from foundry.progress import Reporter
from foundry.runtime.chat.answer import Sources
from foundry.runtime.chat.support import CheckedDone
from foundry.runtime.index.records import Place, Record
from foundry.runtime.retrieval.results import Hit, SearchResponse
from foundry.runtime.web.problems import ProblemDocument

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden" / "minimal"
BLOCK = re.compile(r"(?s)(<!-- reference: ([\w-]+) -->\n).*?(<!-- end -->)")
UNNAMED = {"type"}
"""Keys that are explained in the text instead, because each section has its own."""

DESCRIBE_SERVER = """
import asyncio, json
from workshop.app import create_app
from workshop.mcp import server as mcp
from mcp import Client

async def tools():
    async with Client(mcp.create_server(search_hybrid, "0")) as client:
        return [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]

from workshop import search_hybrid
print(json.dumps([create_app().openapi(), asyncio.run(tools())]))
"""


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    escaped = (" | ".join(cell.replace("|", "\\|") for cell in cells) for cells in lines)
    return "\n".join(f"| {line} |" for line in escaped).replace("| --- ", "|---")


def described_keys(*models: type[BaseModel]) -> str:
    """Return a table of a section's keys: default, allowed values, and meaning."""
    fields = {key: field for model in models for key, field in model.model_fields.items()}
    meanings = {key: text for model in models for key, text in _attributes(model).items()}
    rows = (
        (f"`{key}`", _default(field), _allowed(key, field), meanings[key])
        for key, field in fields.items()
        if key not in UNNAMED
    )
    return table(("key", "default", "allowed", "meaning"), rows)


def _attributes(model: type[BaseModel]) -> dict[str, str]:
    """Return the descriptions of attributes in the docstrings of a model and its bases."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        _, _, listed = (inspect.cleandoc(each.__doc__ or "")).partition("Attributes:\n")
        listed = listed.partition("\n\n")[0]
        for name, text in re.findall(r"(?m)^    (\w+): (.+(?:\n {8}.+)*)", listed):
            found[name] = " ".join(text.split())
    return found


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value == "":
        return ""
    if isinstance(value, BaseModel):
        return "see below"
    if value == DEFAULT_USER_AGENT:
        return "`rag-foundry/` and its version"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{json.dumps(value)}`"


def _allowed(key: str, field: FieldInfo) -> str:
    """Return the allowed values of a key, in words."""
    if key == "language":
        return ", ".join(f"`{name}`" for name in sorted(LANGUAGES))
    choices = _choices(field.annotation)
    if choices:
        return ", ".join(f"`{json.dumps(choice)}`" for choice in choices)
    bounds = [*field.metadata, *_nested_metadata(field.annotation)]
    low = next((each.ge for each in bounds if isinstance(each, annotated_types.Ge)), None)
    high = next((each.le for each in bounds if isinstance(each, annotated_types.Le)), None)
    if low is not None:
        return f"{low:,} or more" if high is None else f"{low:,} to {high:,.10g}"
    kinds = {bool: "`true`, `false`", int: "number", float: "number", str: "text", Path: "path"}
    plain = [kind for kind in _members(field.annotation) if kind in kinds]
    return kinds[plain[0]] if plain else "list" if _is_list(field.annotation) else "table"


def _members(annotation: Any) -> list[Any]:
    return (
        [annotation, *(part for each in get_args(annotation) for part in _members(each))]
        if (get_origin(annotation) is not tuple and get_origin(annotation) is not dict)
        else []
    )


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple or any(map(_is_list, get_args(annotation)[:1]))


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for each in get_args(annotation) for choice in _choices(each)]


def _nested_metadata(annotation: Any) -> list[Any]:
    own = list(getattr(annotation, "__metadata__", ()))
    own = [part for each in own for part in getattr(each, "metadata", [each])]
    return own + [part for each in get_args(annotation) for part in _nested_metadata(each)]


def described_stages() -> str:
    """Return a section for each optional stage: description, keys, and an example."""
    parts = []
    examples = tomllib.loads((ROOT / "docs" / "stage-examples.toml").read_text(encoding="utf-8"))
    by_stage = {example["stage"]: example for example in examples["examples"]}
    for table_name, description, keys in (
        row for stage in STAGES.values() for row in stage.document()
    ):
        told = f"{description[0].upper()}{description[1:]}".removesuffix(".")
        parts += [f"### {table_name}", f"{told}.", f"Keys: {keys}." if keys else "No keys."]
        if example := by_stage.get(table_name.replace("`", "")):
            parts += _before_and_after(example)
    return "\n\n".join(parts)


def _before_and_after(example: Mapping[str, Any]) -> Iterator[str]:
    given = ", ".join(example["options"].strip().split("\n")[1:])
    asked = f"`{example['query']}`" + (f", with `{given}`" if given else "")
    joined = "; " if any(told.startswith("`") for told in example["told"]) else " "
    sentences = (told if told.startswith("`") else f'"{told}"' for told in example["told"])
    told = " " + joined.join(sentences) if example["told"] else ""
    if example["before"] == example["after"]:
        verb = "counts" if joined == "; " else "says"
        yield f"For example, {asked} returns the same results. The response {verb}:{told}"
        return
    yield f"For example: {asked}." + (f" The response says:{told}" if told else "")
    rows = zip_longest(example["before"], example["after"], fillvalue="")
    yield table(("without", "with"), rows)


def described_commands() -> str:
    """Return a section for each command: usage, description and options."""
    parts = []
    for commands in GROUPS.values():
        for command in map(load_command, commands):
            parts += [f"### `foundry {command.name}`", *_describe(command)]
    return "\n\n".join(parts)


def _describe(command: click.Command) -> Iterator[str]:
    # A command caches its help option from the first context that asks for it, so that context gets
    # the settings of the command line.
    above = click.Context(main_command, info_name="foundry", **main_command.context_settings)
    context = click.Context(command, info_name=command.name, parent=above)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```sh\nfoundry {command.name} {usage}\n```"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield " ".join(paragraph.split())
    options = [each for each in command.params if isinstance(each, click.Option)]
    rows = []
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            rows.append((f"`{record[0]}`", " ".join(record[1].split())))
    yield table(("option", ""), iter(rows))


def described_endpoints() -> str:
    """Return the table of the endpoints of a server, from its OpenAPI document."""
    document, _ = described_server()
    rows = [
        (f"`{method.upper()} {path}`", _summary(operation), _arguments(document, operation))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    return table(("endpoint", "what it does", "takes"), iter(rows))


def _summary(operation: Mapping[str, Any]) -> str:
    described: str = operation.get("description") or operation["summary"]
    return " ".join(described.partition("\n\n")[0].split())


def _arguments(document: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    names = [each["name"] for each in operation.get("parameters", ()) if each["in"] != "header"]
    content = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema = media["schema"]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        names += schema.get("properties", ())
    return ", ".join(f"`{name}`" for name in names)


def described_tools() -> str:
    """Return the table of a server's MCP tools."""
    _, tools = described_server()
    rows = (
        (
            f"`{tool['name']}`",
            " ".join(tool["description"].split()),
            ", ".join(f"`{name}`" for name in _schema(tool).get("properties", ())),
        )
        for tool in tools
    )
    return table(("tool", "what assistants are told", "takes"), rows)


def _schema(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tool.get("input_schema") or tool.get("inputSchema") or {}
    return found


@cache
def described_server() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the OpenAPI document and the MCP tools of a server built from a golden project."""
    with TemporaryDirectory() as folder:
        project = Path(folder) / "minimal"
        project.mkdir()
        config = (GOLDEN / "foundry.toml").read_text(encoding="utf-8")
        # Access rights change no endpoint, and the script of the search box is not part of the API.
        other = {Access.name, SearchBox.name}
        every = "".join(f"{name} = true\n" for name in INTERFACES if name not in other)
        (project / "foundry.toml").write_text(f"{config}\n[server]\n{every}", encoding="utf-8")
        shutil.copytree(GOLDEN / "sources", project / "sources")
        pipeline.build(project, Reporter(quiet=True))
        pipeline.query(project, ["prices"], lambda *_: None)
        done = subprocess.run(
            [sys.executable, "-B", "-c", DESCRIBE_SERVER],
            cwd=project / ".foundry" / "server",
            env={"INDEX_DIR": str(project / ".foundry" / "index"), "PATH": ""},
            check=True,
            capture_output=True,
            text=True,
        )
    document, tools = json.loads(done.stdout)
    return document, tools


def described_fields(record: type[Record]) -> str:
    """Return the table of the fields of an answer."""
    return table(("field", "type", "meaning"), rows_of(record))


def described_python() -> str:
    """Return the table of the names in a server's package."""
    return table(("name", "what it does"), rows_of_python())


BLOCKS: dict[str, Callable[[], str]] = {
    "project": partial(described_keys, ProjectSection),
    "folder": partial(described_keys, FolderSource),
    "records": partial(described_keys, RecordsSource),
    "git": partial(described_keys, GitSource),
    "web": partial(described_keys, UrlSource, SitemapSource, SiteSource),
    "build": partial(described_keys, BuildSection),
    "chunking": partial(described_keys, ChunkingSection),
    "embedding": partial(described_keys, EmbeddingSection),
    "search": partial(described_keys, SearchOptions),
    "fields": partial(described_keys, FieldsSection),
    "store": partial(described_keys, StoreSection),
    "server": partial(described_keys, ServerSection),
    "export": partial(described_keys, ExportSection),
    "stages": described_stages,
    "commands": described_commands,
    "endpoints": described_endpoints,
    "tools": described_tools,
    "python": described_python,
    "response": partial(described_fields, SearchResponse),
    "result": partial(described_fields, Hit),
    "place": partial(described_fields, Place),
    "chat-sources": partial(described_fields, Sources),
    "chat-done": partial(described_fields, CheckedDone),
    "problem": partial(described_fields, ProblemDocument),
}
"""The content of each block, by its name."""


def write(text: str) -> str:
    """Return a page with updated blocks; nothing else changes."""
    return BLOCK.sub(lambda match: f"{match[1]}{BLOCKS[match[2]]()}\n{match[3]}", text)


def main() -> None:
    """Write all pages, or with --check print the names of those that differ."""
    differing = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (written := write(text)) == text:
            continue
        differing.append(page.name)
        if "--check" not in sys.argv:
            page.write_text(written, encoding="utf-8")
    if differing and "--check" in sys.argv:
        sys.exit(f"run make docs: {', '.join(differing)}")


if __name__ == "__main__":
    main()
