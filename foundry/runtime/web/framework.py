"""Loading the web framework without building what few requests need."""

from importlib import import_module

from pydantic import BaseModel


def load_fastapi() -> None:
    """Import FastAPI; its own models build their validators when they are first used.

    Most of the time that FastAPI takes to import goes into those of a model for each part of an
    OpenAPI document, which wait for somebody to ask for that document. The switch is Pydantic's
    own, `defer_build`, which models inherit; models that are defined later are not concerned.
    """
    BaseModel.model_config["defer_build"] = True
    try:
        import_module("fastapi")
    finally:
        del BaseModel.model_config["defer_build"]
