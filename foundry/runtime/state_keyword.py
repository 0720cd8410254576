"""The one index that this process answers from."""

from .index import Index
from .served import Served

_served = Served(Index.open)

load = _served.load
current_index = _served.current
