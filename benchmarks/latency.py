"""Measures latencies: percentiles of wall time and of processor time, in milliseconds."""

import math
import threading
import time
from collections.abc import Callable

import numpy as np

WARM = 20
SECONDS = 20.0
"""Time limit of a measurement; slow systems get fewer queries."""

Percentiles = dict[str, float]
Ask = Callable[[str], object]


def percentiles(times: list[float]) -> Percentiles:
    """Return the median, p95 and p99."""
    cuts = np.percentile(times, [50, 95, 99]).tolist()
    return dict(zip(("p50", "p95", "p99"), cuts, strict=True))


def ask_all(ask: Ask, queries: list[str], warm: int = WARM) -> Percentiles:
    """Return milliseconds of wall time (p50, p95, p99) and of processor time.

    Processor times are named cpu, cpu p95 and cpu p99. Also returned are the answers per second,
    and the number of queries (`asked`) within `SECONDS`. The first `warm` queries are not measured.
    """
    begun = time.perf_counter()
    for query in queries[:warm]:
        ask(query)
        if time.perf_counter() - begun > SECONDS / 2:
            break
    times: list[float] = []
    used: list[float] = []
    begun = time.perf_counter()
    for query in queries:
        started, before = time.perf_counter(), time.process_time()
        ask(query)
        used.append((time.process_time() - before) * 1000)
        times.append((time.perf_counter() - started) * 1000)
        if time.perf_counter() - begun > SECONDS:
            break
    rate = len(times) / (time.perf_counter() - begun)
    cpu = {
        "cpu" if name == "p50" else f"cpu {name}": used for name, used in percentiles(used).items()
    }
    return {**percentiles(times), **cpu, "rate": rate, "asked": len(times)}


def ask_again(ask: Ask, queries: list[str], passes: int) -> Percentiles:
    """Return the same figures for the shortest time of each query in several passes.

    Passes end after `SECONDS`. Repeating them reduces the effect of other work on the machine.
    """
    wall, used = [math.inf] * len(queries), [math.inf] * len(queries)
    begun = time.perf_counter()
    for number in range(passes):
        for place, query in enumerate(queries):
            started, before = time.perf_counter(), time.process_time()
            ask(query)
            used[place] = min(used[place], (time.process_time() - before) * 1000)
            wall[place] = min(wall[place], (time.perf_counter() - started) * 1000)
            if number and time.perf_counter() - begun > SECONDS:
                break
    cpu = {
        "cpu" if name == "p50" else f"cpu {name}": value
        for name, value in percentiles(used).items()
    }
    return {**percentiles(wall), **cpu}


def ask_in_threads(ask: Ask, queries: list[str], count: int) -> Percentiles:
    """Return figures if `count` threads each send all queries at the same time.

    Percentiles are of wall time; `cpu` is the processor time per query, `rate` answers per second.
    """
    times: list[float] = []

    def work() -> None:
        for query in queries:
            started = time.perf_counter()
            ask(query)
            times.append((time.perf_counter() - started) * 1000)

    threads = [threading.Thread(target=work) for _ in range(count)]
    used, begun = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(times) / (time.perf_counter() - begun)
    cpu = (time.process_time() - used) * 1000 / len(times)
    return {**percentiles(times), "cpu": cpu, "rate": rate}
