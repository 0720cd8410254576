"""Which texts share a call."""

from collections.abc import Sequence

from foundry.embedding.providers.model import ModelLimits


def make_batches(
    texts: Sequence[tuple[str, int]], limits: ModelLimits, *, padded: bool
) -> list[list[str]]:
    """Texts with their tokens in batches that a call may carry.

    Where all texts of a batch are filled up to the longest, the longest come first: texts of like
    length share a batch, and what does not fit into memory shows at once.
    """
    if padded:
        texts = sorted(texts, key=lambda entry: -entry[1])
    batches: list[list[str]] = []
    used = longest = 0
    for text, tokens in texts:
        longest = max(longest, tokens)
        size = longest * (len(batches[-1]) + 1) if padded and batches else used + tokens
        if not batches or size > limits.batch_tokens or len(batches[-1]) >= limits.batch_texts:
            batches.append([])
            used, longest = 0, tokens
        batches[-1].append(text)
        used += tokens
    return batches
