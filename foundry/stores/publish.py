"""Publishes the built index into the engine that foundry.toml names."""

import os
from dataclasses import replace
from importlib import import_module

from foundry.config.project import Config
from foundry.errors import ConfigError, PublishError
from foundry.features.stores import STORES
from foundry.files import CONFIG_NAME
from foundry.indexing.versions import built_index, check_index, refuse_stale
from foundry.progress import Reporter
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.checking import Outcome
from foundry.stores.content import Content
from foundry.stores.options import Publication, PublishOptions


def publish_index(config: Config, reporter: Reporter, options: PublishOptions) -> Publication:
    """Load the built index into the engine, compare its answers, and switch to it.

    The index's manifest is touched, so servers that follow the index folder reload. Raises
    ConfigError if no engine is configured, IndexUnusableError if the index is damaged or does not
    match foundry.toml, and PublishError if the engine refuses it or its answers differ.
    """
    store = config.store
    if store.is_embedded:
        raise ConfigError(
            str(config.root / CONFIG_NAME),
            ["store.engine: is 'embedded', so there is nothing to publish into"],
            hint="set it to 'qdrant' or 'pgvector'",
        )
    variable = STORES[store.engine].variables[0]
    if not os.environ.get(variable, "").strip():
        raise PublishError(
            f"{store.engine}: {variable} is not set, so its address is unknown",
            hint=f"set {variable} in the environment; never write it into {CONFIG_NAME}",
        )
    index = built_index(config)
    check_index(index, config.root)
    if not options.stale:
        refuse_stale(config, index.manifest)
    content = Content.open(index.folder)
    settings = StoreSettings(store.name, store.exact, store.timeout_ms / 1000)
    # Imported when needed: each engine needs its own client, which is an extra.
    engine = import_module(f"foundry.stores.{store.engine}.publishing")
    options = replace(options, records=store.has_records)
    outcome: Outcome = engine.publish(content, settings, reporter, options)
    os.utime(index.folder / "manifest.json")
    return Publication(
        engine=store.engine,
        name=store.name,
        version=content.version,
        chunks=len(content.scales),
        postings=len(content.impacts),
        recall=outcome.agreement.recall,
        difference=outcome.agreement.difference,
        loaded=outcome.loaded,
        dropped=outcome.dropped,
    )
