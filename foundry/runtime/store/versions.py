"""The versions that this process searches in its engine."""

import os
import threading
from functools import cache
from weakref import WeakValueDictionary

from ..index.layout import IndexLayout, Manifest
from .engine import open_engine
from .settings import read_store_settings
from .store import Engine, Store

_stores: WeakValueDictionary[tuple[int, str], Store] = WeakValueDictionary()
_lock = threading.Lock()


def open_store(layout: IndexLayout) -> Store:
    """The version that goes with an index; both lanes of the index share it.

    Nothing is connected yet. Raises ConfigurationError.
    """
    # Connections are for one process, and workers are forked.
    key = os.getpid(), Manifest.read(layout.manifest).version
    with _lock:
        store = _stores.get(key)
        if store is None:
            store = _stores[key] = Store(_engine(key[0]), key[1])
        return store


@cache
def _engine(_process: int) -> Engine:
    return open_engine(read_store_settings())
