"""Progress in texts, where what is worked off are parts that several texts may share."""

from collections.abc import Callable, Mapping, Sequence


class Tally:
    """Tells progress: a text is done when all of its parts are.

    Args:
        texts: In any number of copies.
        parts: Of each text.
        progress: Told how many more texts are done.
    """

    def __init__(
        self,
        texts: Sequence[str],
        parts: Mapping[str, Sequence[str]],
        progress: Callable[[int], object],
    ) -> None:
        self._times = dict.fromkeys(texts, 0)
        for text in texts:
            self._times[text] += 1
        self._left = {text: len(set(found)) for text, found in parts.items()}
        self._users: dict[str, list[str]] = {}
        for text, found in parts.items():
            for part in set(found):
                self._users.setdefault(part, []).append(text)
        self._progress = progress
        self.finished = 0

    def done(self, part: str) -> None:
        """Note that a part has its vector, or will get none."""
        finished = 0
        for text in self._users[part]:
            self._left[text] -= 1
            if not self._left[text]:
                finished += self._times[text]
        if finished:
            self.finished += finished
            self._progress(finished)

    def blank(self) -> None:
        """Count texts without any part as done as well."""
        rest = sum(self._times.values()) - self.finished
        if rest:
            self._progress(rest)
