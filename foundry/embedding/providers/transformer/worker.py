"""Embeds texts sent by a parent process, with a transformer, on one core.

Runs as a script with a JSON object as argument: `path` (the parent's import path) and `folder` (of
the model). A request is a line of JSON, the texts. The answer is a line `{"shape": [n, d]}`
followed by the vectors as float32, or `{"failure": message}`.
"""

import json
import signal
import sys
from pathlib import Path


def main() -> None:
    """Answer requests until standard input ends."""
    options = json.loads(sys.argv[1])
    sys.path[:] = options["path"]
    # The parent handles Ctrl-C and then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from foundry.embedding.providers.transformer.folder import open_transformer, read_transformer
    from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

    model = open_transformer(read_transformer(Path(options["folder"])))
    answers = sys.stdout.buffer
    for line in sys.stdin.buffer:
        try:
            vectors = model.embed(json.loads(line), "document")
        except EmbeddingFailure as failure:
            answers.write(json.dumps({"failure": failure.message}).encode() + b"\n")
        else:
            answers.write(json.dumps({"shape": vectors.shape}).encode() + b"\n")
            answers.write(vectors.astype("<f4").tobytes())
        answers.flush()


if __name__ == "__main__":
    main()
