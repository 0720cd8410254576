"""Models on this machine: by a published name, or by the path of a folder."""

from pathlib import Path

from .replies import EmbeddingFailure


def find_folder(model: str) -> Path | None:
    """The folder that a model's name is the path of; None for the name of a published one.

    Raises:
        EmbeddingFailure: For what can only be a path and is no folder.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise EmbeddingFailure(
            f"{model}: no such folder", hint="embedding.model names a model, or its folder"
        )
    return None


def unusable(model: str, error: Exception) -> EmbeddingFailure:
    """A model that cannot be loaded, with the first line of the reason."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    return EmbeddingFailure(
        f"the model {model!r} cannot be loaded: {reason}",
        hint="check embedding.model; a name needs the network once, a folder never",
    )
