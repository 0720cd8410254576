"""Which parts of a server depend on configuration and index."""

from conftest import CONFIG, MakeProject

from foundry.config.project import load_config
from foundry.features.providers import PROVIDERS
from foundry.features.search_step import SearchPlace
from foundry.rendering.design import Design

OPTIONS = """\
[search.recency]
[search.document_cap]
[server]
chat = false
[export]
targets = ["docker"]
"""


def test_features_come_in_the_order_of_a_readme(make_project: MakeProject) -> None:
    config = load_config(make_project({"a.md": "a"}, config=CONFIG + OPTIONS).root)
    design = Design.of(config, PROVIDERS["static"])
    names = [feature.name for feature in design.features]
    assert names[0] == "http"
    assert names[-4:] == ["recency", "document_cap", "embedded", "docker"]
    assert "chat" not in names and "page" in names
    assert list(design.stages) == ["recency", "document_cap"]
    of_stages = [(stage.name, step.place) for stage, step in design.search_steps if stage]
    assert of_stages == [("recency", SearchPlace.BOOST), ("document_cap", SearchPlace.CHOOSE)]


def test_a_model_that_is_asked_for_queries_is_a_feature(make_project: MakeProject) -> None:
    config = load_config(make_project({"a.md": "a"}).root)
    asks = Design.of(config, PROVIDERS["openai"])
    assert PROVIDERS["openai"] in asks.features
    assert PROVIDERS["static"] not in Design.of(config, PROVIDERS["static"]).features


def test_a_varied_design_has_other_options_and_the_same_encoder(make_project: MakeProject) -> None:
    project = make_project({"a.md": "a"}, config=CONFIG + OPTIONS)
    design = Design.of(load_config(project.root), PROVIDERS["fastembed"])
    other = load_config(make_project({"a.md": "a"}, name="other").root)
    varied = design.varied(other)
    assert varied == Design.of(other, PROVIDERS["fastembed"])
    assert list(varied.stages) == list(other.stages) != list(design.stages)
