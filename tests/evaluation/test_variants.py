"""Which numbers are tuned: those of stages in use that can be changed without a new index."""

from conftest import CONFIG, MakeProject

from foundry.config.project import load_config
from foundry.evaluation.tuning import vary_stages

STAGES = """
[search.anchors]

[search.links]
seeds = 1

[search.expansion]

[search.minimum_score]
score = 0.2
"""


def test_each_number_is_varied_alone_within_its_limits(make_project: MakeProject) -> None:
    config = load_config(make_project({"a.md": "a"}, config=CONFIG + STAGES).root)
    variants = list(vary_stages(config))
    changes = {name: [] for changed, _ in variants for name in changed}
    for changed, variant in variants:
        [(name, value)] = changed.items()
        stage, _, key = name.partition(".")
        before = config.stages[stage].model_dump()
        assert variant.stages[stage].model_dump() == {**before, key: value}
        assert {k: v for k, v in variant.stages.items() if k != stage} == {
            k: v for k, v in config.stages.items() if k != stage
        }
        changes[name].append(value)
    # A factor below 1, a share above 1 and no seed at all are impossible.
    assert changes["anchors.factor"] == [1.65, 2.2]
    assert changes["links.factor"] == [0.35, 0.525]
    assert changes["links.seeds"] == [2]
    assert "expansion.vocabulary" not in changes
    assert not any(name.startswith("minimum_score") for name in changes)


def test_without_stages_there_is_nothing_to_vary(make_project: MakeProject) -> None:
    config = load_config(make_project({"a.md": "a"}).root)
    assert list(vary_stages(config)) == []
