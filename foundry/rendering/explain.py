"""Explains every file of an export: by a feature, or by a chain of imports."""

from collections.abc import Mapping

from foundry.features.calls import imports_of
from foundry.features.feature import Feature
from foundry.features.interfaces import INTERFACES
from foundry.rendering.copying import PAGE_FOLDER, module_of, path_of, reach_runtime
from foundry.rendering.design import Design
from foundry.rendering.plan import written_name

_ALWAYS = "every server has it"
_MADE = {
    "settings.json": "what foundry.toml configures",
    "questions.jsonl": "the project has questions",
    "mcp/tools.json": "descriptions of the tools for MCP clients, made from their models",
    "figures.json": "results of the questions at export",
}
"""Reasons for the package's data files, by name."""


def explain_files(design: Design, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the reason for each file of a server, by path."""
    package, name = design.config.package, design.config.project.name
    brought = {
        written_name(file, package, name): each for each in design.features for file in each.files
    }
    values = [(each, step.value) for each, step in design.app_steps]
    values += [(stage, step.call) for stage, step in design.search_steps if stage is not None]
    imported = {module: each for each, value in values for module, _ in imports_of(value)}
    modules = {
        module_of(path, package): content
        for path, content in files.items()
        if path.startswith(f"{package}/") and path.endswith(".py")
    }
    importers = reach_runtime(
        {module: modules[module] for module in modules if not path_of(module).is_file()},
        modules.__getitem__,
    )
    return {
        path: (
            brought[path].chosen_by()
            if path in brought
            else _explain(path.removeprefix(f"{package}/"), importers, imported)
        )
        for path in sorted(files)
    }


def _explain(path: str, importers: Mapping[str, str], imported: Mapping[str, Feature]) -> str:
    if path in _MADE:
        return _MADE[path]
    if path.startswith(f"{PAGE_FOLDER}/"):
        return INTERFACES["page"].chosen_by()
    module = path.removesuffix(".py").replace("/", ".")
    if module.endswith(".__init__"):
        return "makes its folder a package"
    if module not in importers:
        return _ALWAYS
    links = _links(module, importers)
    why = [imported[link].chosen_by() for link in links if link in imported][:1]
    chain = " -> ".join(f"{link.replace('.', '/')}.py" for link in links)
    return ", ".join([*why, f"imported: {chain}"])


def _links(module: str, importers: Mapping[str, str]) -> list[str]:
    links = [module]
    while links[0] in importers:
        links.insert(0, importers[links[0]])
    return links
