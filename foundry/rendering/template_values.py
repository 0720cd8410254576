"""The values that templates can use, from the design of a server."""

import foundry
from foundry.features.app_step import IN_EVENT_LOOP, IN_THREADS, AppPlace
from foundry.features.calls import Statement, imports_of
from foundry.features.contributions import contents_of, dependencies_of, sections_of
from foundry.features.interfaces import INTERFACES
from foundry.features.providers import Provider
from foundry.features.search_step import SearchPlace
from foundry.features.searching import FUSION_WORDS
from foundry.features.snippet import Snippet
from foundry.features.stage import Stage
from foundry.features.stages import STAGES
from foundry.features.stores import Store
from foundry.features.targets import Target
from foundry.rendering.design import Design

REGISTRY_LENGTH = 100

LEAVING_OUT = (SearchPlace.PREFER, SearchPlace.MERGE, SearchPlace.CHOOSE)
"""Places at which stages drop hits, so that lanes must return more of them."""

CHANGING_FUSION = (SearchPlace.WEIGH, SearchPlace.FUSED)
REFINING = (
    *(SearchPlace.BOOST, SearchPlace.SIFT, SearchPlace.RERANK, SearchPlace.FINISH),
    *(SearchPlace.PIN, SearchPlace.MERGE, SearchPlace.CHOOSE),
)
"""Places at which stages change the order after fusion."""


def template_values(design: Design, *, has_questions: bool) -> dict[str, object]:
    """Return all variables of the templates."""
    config, query_encoder, features = design.config, design.query_encoder, design.features
    has_vectors = query_encoder.kind != "none"
    waits = query_encoder.asks_model or not config.store.is_embedded
    waits = waits or any(stage.waits for stage in design.stages.values())
    return {
        "name": config.project.name,
        "label": config.project.name.replace("_", "-"),
        "package": config.package,
        "title": config.title,
        "description": config.project.description,
        "fusion": config.search.fusion,
        "vectors": has_vectors,
        "query_encoder_kind": query_encoder.kind,
        "query_encoder_module": query_encoder.name.replace("-", "_"),
        "store": config.store.engine,
        "engine_records": config.store.has_records,
        "identifier_fallback": has_vectors and config.search.identifier_fallback,
        "unknown_identifiers": config.search.unknown_identifiers,
        "stages": {name: design.stages.get(name) for name in (*STAGES, "parents")},
        **_app_values(design),
        **_search_values(design),
        "filterable": list(config.index.filterable),
        "run": IN_THREADS if waits else IN_EVENT_LOOP,
        "semantic_weight": config.weights[0],
        "keyword_weight": config.weights[1],
        "k": config.search.k,
        "port": config.server.port,
        "key": config.embedding.api_key_env,
        **{name: name in config.server.interfaces for name in INTERFACES},
        "queues": [
            Snippet(f'"{path}": "{queue}"')
            for each in config.server.interfaces.values()
            for path, queue in each.queues.items()
        ],
        "dependencies": dependencies_of(features),
        "environment": sorted({block for each in features for block in each.environment}),
        "contents": contents_of(features, name=config.project.name, package=config.package),
        "sections": {
            "interfaces": sections_of(config.server.interfaces.values()),
            "search": sections_of(
                each for each in features if isinstance(each, Stage | Provider | Store)
            ),
            "targets": sections_of(each for each in features if isinstance(each, Target)),
        },
        "short_title": _shorten(config.title),
        "summary": _shorten(config.project.description or f"Search {config.title}"),
        "has_questions": has_questions,
        "foundry_version": foundry.__version__,
    }


def _shorten(text: str) -> str:
    """Shorten a text to one line within the limit of the MCP registry."""
    line = " ".join(text.split())
    return line if len(line) <= REGISTRY_LENGTH else line[: REGISTRY_LENGTH - 3] + "..."


def _app_values(design: Design) -> dict[str, object]:
    """Return the variables of app.py: `steps` by place, and `imported`, their imports by module."""
    chosen = dict.fromkeys(step for _, step in design.app_steps)
    steps: dict[str, list[Statement]] = {place.value: [] for place in AppPlace}
    needed: set[tuple[str, str]] = set()
    for step in chosen:
        steps[step.place.value].append(
            Statement((step.name,) if step.name else (), step.value, step.values)
        )
        needed |= {*imports_of(step.value)}
    return {"steps": steps, "imported": [(module, (name,)) for module, name in sorted(needed)]}


def _search_values(design: Design) -> dict[str, object]:
    """Return the variables of the search.py templates.

    `calls` are the steps by place, and `called` their functions, by module; `wanted` is the
    variable with the query to search for. `explained` are entries of the README's list, in order.
    """
    config, kind = design.config, design.query_encoder.kind
    calls: dict[str, list[Statement]] = {}
    explained, asked, is_rewritten = [], "query", False
    for place in SearchPlace:
        word, _ = place.value
        calls[word] = []
        for stage, step in design.search_steps:
            if step.place is place:
                values = {**(stage.values() if stage else {}), **step.values}
                calls[word].append(Statement(step.targets, step.call, values, asked))
                # Later steps use the query that an earlier step returns.
                asked = "plain" if "plain" in step.targets else asked
                is_rewritten = is_rewritten or "rewritten" in step.targets
                explained += [Snippet(step.readme, values)] if step.readme else []
    by_stages = {step.place for stage, step in design.search_steps if stage}
    times = max((stage.hits_compared for stage in design.stages.values()), default=1)
    one_machine = "keywords" if kind == "none" else "hybrid"
    weights = dict(zip(("semantic_weight", "keyword_weight"), config.weights, strict=True))
    needed = {each for _, step in design.search_steps for each in imports_of(step.call)}
    return {
        "composition": one_machine if config.store.is_embedded else "engine",
        "calls": calls,
        "called": [(module, (name,)) for module, name in sorted(needed)],
        "wanted": "rewritten" if is_rewritten else asked,
        "switches": [stage.switch for stage in design.stages.values() if stage.switch],
        "ranked": Snippet("{times} * wanted" if times > 1 else "wanted", {"times": times}),
        "leaves_out": not by_stages.isdisjoint(LEAVING_OUT),
        "changes_fusion": not by_stages.isdisjoint(CHANGING_FUSION),
        "refines": not by_stages.isdisjoint(REFINING),
        "fusion_words": Snippet(FUSION_WORDS[config.search.fusion], weights),
        "without_vector": "embedder_unavailable" if kind == "service" else "no_vectors",
        "explained": explained,
    }
