"""Source code that is not meant to be read by people."""

from foundry.documents import RawDocument, Skipped
from foundry.readers import read


def test_minified_code_is_skipped_with_a_reason() -> None:
    content = b"function a(){return 1};" * 900_000
    result = read(RawDocument("s", "a.min.js", "a.min.js", content))
    assert isinstance(result, Skipped)
    assert result.reason == "minified code"
