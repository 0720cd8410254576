"""Which modules may import which, how large packages and modules are, and banned calls."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from import_circles import find_circle

from foundry.features.contributions import dependencies_of, every_feature

ROOT = Path(__file__).parent.parent
FOUNDRY = ROOT / "foundry"
MODULES = sorted(path for path in FOUNDRY.rglob("*.py"))
RUNTIME = sorted((FOUNDRY / "runtime").rglob("*.py"))

FOUNDATION = {"errors", "files", "documents", "progress", "terminal", "urls"}
STAGES = {
    *("sources", "fetching", "readers", "chunking", "embedding", "indexing", "rendering", "stores"),
}
LAYERS = (
    {"", "runtime"},
    FOUNDATION,
    {"state"},
    {"features"},
    {"config"},
    STAGES,
    {"serving"},
    {"building", "evaluation", "inspection"},
    {"export"},
    {"pipeline"},
    {"cli"},
    {"__main__"},
)
"""Packages and modules at the root of Foundry: each imports only those in earlier layers."""

BETWEEN_STAGES = {
    # Web sources are fetched.
    ("sources", "fetching"),
    # The writer accepts embeddings through the protocol that every embedder implements.
    ("indexing", "embedding"),
    # The published index is loaded into an engine.
    ("stores", "indexing"),
}
WITHIN_PACKAGES = {
    "building.documents": {"building.report"},
    "building.corpus": {"building.documents", "building.report", "building.report_text"},
    "building.ray": {"building.documents"},
    "embedding.providers": {"embedding.embedder", "embedding.vector_cache"},
    "embedding.distil": {
        "embedding.embedder",
        "embedding.encoder_files",
        "embedding.many_texts",
        "embedding.static",
    },
    "indexing.carried": {"indexing.files"},
    "indexing.keyword": {"indexing.files", "indexing.carried"},
    "indexing.dense": {"indexing.files"},
    "indexing.queries": {"indexing.files", "indexing.carried", "indexing.records"},
    "features.stages": {
        "features.app_step",
        "features.calls",
        "features.feature",
        "features.search_step",
        "features.stage",
    },
}
"""Packages in a package, and the modules of the outer package that each may import."""
READING = ("code", "formats", "sandbox")
"""Packages of readers: each imports only earlier ones, and modules directly in `readers`."""
MAX_ROOT_MODULES = 8
MAX_PACKAGE_MODULES = 20
LARGE = {
    "runtime/retrieval": "what a search consists of, one idea a module",
    "runtime/retrieval/stages": "a module for each stage",
    "runtime/web": "everything between a request and a search, one idea a module",
}
"""Packages with more than MAX_PACKAGE_MODULES modules, by path, each with the reason."""
MAX_SHARING_A_PREFIX = 2
SHARING = {("runtime/chat", "words"): "one module a language"}
"""Prefixes that more than MAX_SHARING_A_PREFIX modules of a package share, each with the reason."""
MAX_LINES = 300
"""Longer modules may contain two ideas. Divide those that do, and list the others in LONG."""
LONG = {
    "pipeline.py": "has the steps of every command, a few lines each",
    "indexing/writer.py": "calls everything that writes an index, in its order",
    "readers/formats/asciidoc/reader.py": "reads lines, of which each may begin a block",
    "readers/formats/pages/markdown.py": "writes what each kind of element holds",
    "readers/formats/rst/writer.py": "writes what each kind of node says",
}
"""Modules that may be longer than MAX_LINES, by path, each with its one idea."""


def name_of(path: Path) -> str:
    parts = path.relative_to(FOUNDRY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return every import and call of a module."""
    found = ast.walk(ast.parse(path.read_bytes()))
    return [node for node in found if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Return level and absolute or relative name of every import, including those in functions."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.module == "foundry":
                for alias in node.names:
                    yield node.level, f"foundry.{alias.name}"
            else:
                yield node.level, node.module or ""


def imported_from_foundry(path: Path) -> set[str]:
    """Return imported modules of Foundry, without the first name; "" is the package itself."""
    found = set()
    for level, name in imports(path):
        assert level == 0 or path in RUNTIME, f"{path}: relative import"
        if level == 0 and (name + ".").startswith("foundry."):
            module = name.removeprefix("foundry").removeprefix(".")
            is_module = (FOUNDRY / module.replace(".", "/")).with_suffix(".py").exists()
            is_package = (FOUNDRY / module.replace(".", "/")).is_dir()
            found.add(module if is_module or is_package else module.rpartition(".")[0])
    return found


def package_of(module: str) -> str:
    return module.partition(".")[0]


def layer_of(package: str) -> int:
    return next(number for number, packages in enumerate(LAYERS) if package in packages)


def test_every_package_has_a_layer() -> None:
    packages = {package_of(name_of(path)) for path in MODULES} - {"models"}
    assert packages <= set().union(*LAYERS)


def test_few_modules_are_at_the_root() -> None:
    assert len(list(FOUNDRY.glob("*.py"))) <= MAX_ROOT_MODULES


def test_packages_are_small() -> None:
    large = {
        package.relative_to(FOUNDRY).as_posix()
        for package in {path.parent for path in MODULES}
        if len(list(package.glob("*.py"))) > MAX_PACKAGE_MODULES
    }
    assert large == LARGE.keys()


def test_modules_with_a_common_prefix_are_in_a_folder() -> None:
    counts = Counter(
        (path.parent.relative_to(FOUNDRY).as_posix(), path.stem.partition("_")[0])
        for path in MODULES
    )
    sharing = {place for place, count in counts.items() if count > MAX_SHARING_A_PREFIX}
    assert sharing == SHARING.keys()


def test_imports_point_one_way() -> None:
    for path in set(MODULES) - set(RUNTIME):
        package = package_of(name_of(path))
        for other in map(package_of, imported_from_foundry(path)):
            if other == package or (package, other) in BETWEEN_STAGES:
                continue
            is_foundation = package in FOUNDATION and other in FOUNDATION
            assert is_foundation or layer_of(other) < layer_of(package), f"{name_of(path)}: {other}"


def test_packages_in_a_package_import_few_neighbours() -> None:
    for path in set(MODULES) - set(RUNTIME):
        name = name_of(path)
        own = ".".join(name.split(".")[:2])
        for other in imported_from_foundry(path) if own in WITHIN_PACKAGES else ():
            inner = ".".join(other.split(".")[:2])
            if package_of(other) == package_of(name) and inner != own:
                assert inner in WITHIN_PACKAGES[own], f"{name}: {other}"


def test_formats_do_not_import_workers() -> None:
    for place, package in enumerate(READING):
        later = {f"readers.{other}" for other in READING[place + 1 :]}
        for path in (FOUNDRY / "readers" / package).rglob("*.py"):
            found = {".".join(name.split(".")[:2]) for name in imported_from_foundry(path)}
            assert not found & later, path


def test_command_line_imports_the_pipeline_and_records() -> None:
    allowed = {"", "pipeline", "errors", "progress", "terminal", "runtime.errors"}
    allowed |= {"urls"}
    # Commands pass options and get results, which are records without logic.
    allowed |= {"building.options", "serving.options", "evaluation.options", "stores.options"}
    # These modules print what they make: reports and surveys of indexes.
    allowed |= {"inspection.index", "building.report_text"}
    for path in (FOUNDRY / "cli").glob("*.py"):
        found = imported_from_foundry(path)
        printing = {name for name in found if name.endswith(".printing")} | {"runtime.json_text"}
        assert {name for name in found if package_of(name) != "cli"} <= allowed | printing, path


def test_runtime_needs_only_what_an_export_installs() -> None:
    names = [re.match(r"[\w-]+", entry) for entry in dependencies_of(every_feature())]
    # Pydantic raises its errors under the name of its core. opentelemetry-api is packaged as
    # opentelemetry; psycopg's extra installs its pool.
    installed = {
        "opentelemetry",
        "psycopg_pool",
        "pydantic_core",
        *(name[0].replace("-", "_") for name in names if name),
    }
    for path in RUNTIME:
        for level, name in imports(path):
            top = name.partition(".")[0]
            if not level:
                assert top != "foundry", f"{path.name} imports foundry"
                assert top in sys.stdlib_module_names | installed, f"{path.name}: {name}"


PACKAGES = {
    "errors": set(),
    "hosts": set(),
    "output": set(),
    "json_text": set(),
    "index": set(),
    "settings": {"hosts", "index"},
    "model": {"settings"},
    "retrieval": {"index", "model", "settings"},
    "store": {"index", "retrieval", "settings"},
    "evaluation": {"index", "retrieval", "cli", "settings"},
    "web": {"hosts", "index", "retrieval", "settings"},
    "chat": {"index", "json_text", "retrieval", "model", "web"},
    "mcp": {"index", "json_text", "output", "retrieval", "settings", "web"},
    "cli": {"index", "json_text", "output", "retrieval"},
    "terminal": {"index", "retrieval", "cli"},
}
"""The other packages that each package of a server may import, besides errors."""


def test_packages_of_a_server_import_one_way() -> None:
    for path in RUNTIME:
        parts = path.relative_to(FOUNDRY / "runtime").with_suffix("").parts
        for level, name in imports(path):
            if not level:
                continue
            assert level <= len(parts), f"{path}: imports from above the package"
            other = ".".join([*parts[:-level], name]).split(".")[0]
            allowed = PACKAGES[parts[0]] | {parts[0], "errors"}
            assert other in allowed, f"{'.'.join(parts)} imports {other}"


def test_modules_of_a_server_have_no_circular_imports() -> None:
    folder = FOUNDRY / "runtime"
    modules = {path.relative_to(folder).as_posix(): path.read_bytes() for path in RUNTIME}
    assert find_circle(modules) == []


def test_long_modules_have_a_reason() -> None:
    long = {
        path.relative_to(FOUNDRY).as_posix()
        for path in MODULES
        if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES
    }
    assert long <= LONG.keys()


FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "breakpoint"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
FORBIDDEN_METHODS = {
    ("yaml", "load"),
    ("yaml", "load_all"),
    ("yaml", "unsafe_load"),
    ("yaml", "full_load"),
    ("os", "system"),
    ("os", "popen"),
    ("tempfile", "mktemp"),
}


def is_safe_yaml(path: Path, call: ast.Call) -> bool:
    """Return whether yaml.load is called with a safe loader class of the module."""
    loaders = [option.value.id for option in call.keywords if isinstance(option.value, ast.Name)]
    text = path.read_text(encoding="utf-8")
    return len(loaders) == 1 and bool(
        re.search(rf"class {loaders[0]}\((yaml\.|\w+, )?C?SafeLoader\)", text)
        or re.search(rf"(?m)^{loaders[0]}\b.*= .*(Safe|Base)Loader", text)
    )


def test_no_module_executes_what_it_reads() -> None:
    for path in MODULES:
        for _, name in imports(path):
            assert name.partition(".")[0] not in FORBIDDEN_MODULES, name
        for node in nodes(path):
            if not isinstance(node, ast.Call):
                continue
            place = f"{path}:{node.lineno}"
            if isinstance(node.func, ast.Name):
                assert node.func.id not in FORBIDDEN_CALLS, place
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                method = (node.func.value.id, node.func.attr)
                assert method not in FORBIDDEN_METHODS or is_safe_yaml(path, node), place
            for option in node.keywords:
                value = option.value.value if isinstance(option.value, ast.Constant) else None
                assert not (option.arg == "shell" and value is not False), place
                assert not (option.arg == "allow_pickle" and value is not False), place
            if isinstance(node.func, ast.Attribute) and node.func.attr in {"load", "save"}:
                is_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
                assert not is_numpy or any(o.arg == "allow_pickle" for o in node.keywords), place
