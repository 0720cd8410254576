"""The one index that this process answers from: it has no vectors."""

from .reader import Index
from .served import Served

served = Served(Index.open)

load = served.load
current_index = served.current
