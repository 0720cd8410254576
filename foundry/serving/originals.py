"""Lets people on this machine open the original files of served folders."""

import json
import os

from foundry.config.project import Config
from foundry.config.sources import FolderSource
from foundry.features.interfaces import Originals
from foundry.runtime.hosts import plain_address


def offer_files(config: Config, host: str) -> tuple[Config, dict[str, str]]:
    """Return a configuration that lets readers open files, and the server's further variables.

    The configuration is unchanged if other machines can reach the server, if it lacks an interface
    that this needs, if no source is a folder, or if the owner has set `ORIGINALS`.
    """
    from foundry.runtime.web.process import resolve
    from foundry.runtime.web.source_files import VARIABLE

    folders = {
        source.name: str(source.path)
        for source in config.sources
        if isinstance(source, FolderSource) and source.path.is_dir()
    }
    _, address = resolve(host, 0, "", has_tokens=False, insecure_no_auth=True)
    is_local = plain_address(address).is_loopback
    has_needed = config.server.interfaces.keys() >= set(Originals.needs)
    if not (is_local and has_needed and folders) or VARIABLE in os.environ:
        return config, {}
    server = config.server.model_copy(update={Originals.name: True})
    return config.model_copy(update={"server": server}), {VARIABLE: json.dumps(folders)}
