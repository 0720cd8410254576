"""The design of a server: all decisions that follow from configuration and index, made once."""

from dataclasses import dataclass
from typing import Self

from foundry.config.project import Config
from foundry.features.app_step import AppStep
from foundry.features.feature import Feature
from foundry.features.operation import HTTP
from foundry.features.providers import Provider
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.searching import steps_of_search
from foundry.features.stage import Stage
from foundry.features.stores import STORES
from foundry.features.targets import TARGETS
from foundry.rendering.copying import RUNTIME


@dataclass(frozen=True, slots=True)
class Design:
    """The parts of a server.

    Attributes:
        config: The configuration of its project.
        query_encoder: The provider that embeds queries; see `choose_query_encoder`.
        stages: The optional stages of a search, by name, in order.
        features: The server's features, in the order of its README.
        app_steps: The steps of app.py, each with its feature.
        search_steps: The steps of a search, each with its stage, if any.
    """

    config: Config
    query_encoder: Provider
    stages: dict[str, Stage]
    features: tuple[Feature, ...]
    app_steps: tuple[tuple[Feature, AppStep], ...]
    search_steps: tuple[tuple[Stage | None, SearchStep], ...]

    @classmethod
    def of(cls, config: Config, query_encoder: Provider) -> Self:
        """Return the design of a server with this configuration."""
        stages, interfaces = config.stages, config.server.interfaces
        has_vectors = query_encoder.kind != "none"
        language = config.project.language
        words = language if (RUNTIME / f"chat/words_{language}.py").is_file() else None
        chosen = {*interfaces, *stages, query_encoder.kind}
        # If responses do not list unknown identifiers, stages need not extend the list.
        of_stages = [
            (stage, step)
            for stage in stages.values()
            for step in stage.steps()
            if step.place is not SearchPlace.KNOW or config.search.unknown_identifiers
        ]
        others = steps_of_search(
            config.search,
            [step for _, step in of_stages],
            has_vectors=has_vectors,
        )
        store = STORES[config.store.engine]
        opened = ((each, step) for each in interfaces.values() for step in each.open(chosen, words))
        others_of_app = [*stages.values(), store, *([query_encoder] if has_vectors else [])]
        return cls(
            config=config,
            query_encoder=query_encoder,
            stages=stages,
            features=(
                HTTP,
                *interfaces.values(),
                *stages.values(),
                *([query_encoder] if query_encoder.asks_model else []),
                store,
                *(TARGETS[target] for target in config.export.targets),
            ),
            app_steps=(
                *((HTTP, step) for step in HTTP.open(chosen)),
                *((each, step) for each in others_of_app for step in each.app_steps),
                *opened,
            ),
            search_steps=(*((None, step) for step in others), *of_stages),
        )

    def varied(self, config: Config) -> Self:
        """Return the design of a server with another configuration and the same query encoder."""
        return self.of(config, self.query_encoder)
