"""The state of an index covers the files of a model folder, but no other files of a project."""

import os

import pytest
from conftest import CONFIG, MakeProject

from foundry.building.documents.unchanged import index_state
from foundry.config.project import load_config

MODEL = '[embedding]\nprovider = "sentence-transformers"\nmodel = "model"\n'


def test_files_of_a_model_are_part_of_the_state(make_project: MakeProject) -> None:
    files = {"model/weights.bin": "0123", "model/parts/pieces.txt": "a b"}
    project = make_project(files, config=CONFIG + MODEL)

    def state(digest: str = "inputs") -> str:
        return index_state(load_config(project.root), digest)

    seen = [state()]
    assert state() == seen[0]
    weights = project.root / "model" / "weights.bin"
    weights.write_text("01234")
    seen.append(state())
    os.utime(weights, (1, 1))
    seen.append(state())
    weights.rename(weights.with_name("other.bin"))
    seen.append(state())
    (project.root / "model" / "parts" / "pieces.txt").unlink()
    seen.append(state())
    (project.root / "model" / "empty").mkdir()
    assert state() == seen[-1]
    seen.append(state("other inputs"))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("model", ["", "somebody/some-model"])
def test_other_files_of_a_project_are_not_part_of_the_state(
    model: str, make_project: MakeProject
) -> None:
    config = CONFIG + (MODEL.replace('"model"', f'"{model}"') if model else "")
    project = make_project({"a.md": "text"}, config=config)
    before = index_state(load_config(project.root), "inputs")
    (project.root / "sources" / "b.md").write_text("more")
    assert index_state(load_config(project.root), "inputs") == before
