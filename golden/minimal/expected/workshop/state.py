"""The one index that this process answers from."""

from .hybrid_index import HybridIndex
from .served import Served

_served = Served(HybridIndex.open)

load = _served.load
current_index = _served.current
