"""The one index that this process answers from: it has vectors."""

from .hybrid import HybridIndex
from .served import Served

served = Served(HybridIndex.open)

load = served.load
current_index = served.current
