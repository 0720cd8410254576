"""A task for workers that behaves, or misbehaves, as the document's text says."""

import os
import time
from collections.abc import Callable
from typing import Any


def open_task(
    _options: str,
) -> tuple[
    Callable[[dict[str, Any], bytes], tuple[bytes, int]],
    Callable[[dict[str, Any], bytes, bytes], bytes],
]:
    """Return a function that answers, and one that checks answers."""

    def answer(_described: dict[str, Any], content: bytes) -> tuple[bytes, int]:
        if content == b"end":
            os._exit(7)
        if content == b"wait":
            time.sleep(3600)
        if content == b"pid":
            return b"%d" % os.getpid(), 0
        if content == b"say nothing":
            os.closerange(3, 100)
            time.sleep(3600)
        return content, 0

    def check(_described: dict[str, Any], content: bytes, answer: bytes) -> bytes:
        return answer + b" is refused" if content == b"lie" else answer

    return answer, check
