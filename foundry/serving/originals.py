"""Makes the original files of served folders available, so that people on this machine can open
them.
"""

import json
import os

from foundry.config.project import Config
from foundry.config.sources import FolderSource
from foundry.features.interfaces import Originals
from foundry.runtime.hosts import plain_address


def offer_files(config: Config, host: str) -> tuple[Config, dict[str, str]]:
    """Return the configuration of a server whose documents' files can be opened, and its variables.

    The configuration is unchanged if other machines can reach the server, or if the owner has named
    the folders.
    """
    from foundry.runtime.web.process import resolve
    from foundry.runtime.web.source_files import VARIABLE

    folders = {
        source.name: str(source.path)
        for source in config.sources
        if isinstance(source, FolderSource) and source.path.is_dir()
    }
    _, address = resolve(host, 0, True, "")
    is_local = plain_address(address).is_loopback
    has_needed = config.server.interfaces.keys() >= set(Originals.needs)
    if not (is_local and has_needed and folders) or VARIABLE in os.environ:
        return config, {}
    server = config.server.model_copy(update={Originals.name: True})
    return config.model_copy(update={"server": server}), {VARIABLE: json.dumps(folders)}
