"""Access rules in a configuration, and the features that they exclude."""

import pytest
from conftest import CONFIG, MakeProject

from foundry.config.project import Config, load_config
from foundry.errors import ConfigError

ACCESS = '[server]\naccess = true\n[[server.access_rules]]\nname = "a"\nfilters = {{ {} }}\n'
KEEP = '[build]\nduplicates = "keep"\n'
OWN = ACCESS.format("").replace("true", 'true\naccess_statistics = "visible"')


REFUSED = {
    "copies": (ACCESS.format('tags = "a"'), "build.duplicates"),
    "near_copies": (
        '[build]\nduplicates = "near"\n' + ACCESS.format('tags = "a"'),
        'build.duplicates: must be "keep"',
    ),
    "unknown_filter": (
        KEEP + ACCESS.format('colour = "a"'),
        "server.access_rules[0].filters: 'colour' is not a filter of this index; known: source,",
    ),
    "time": (
        KEEP + ACCESS.format('modified_after = "soon"'),
        "server.access_rules[0].filters.modified_after: must be an ISO 8601 date",
    ),
    "two_times": (
        KEEP + ACCESS.format('modified_after = ["2024-01-01", "2024-01-02"]'),
        "server.access_rules[0].filters.modified_after: must be an ISO 8601 date",
    ),
    "no_values": (
        KEEP + ACCESS.format("tags = []"),
        "server.access_rules[0].filters.tags: has no value, so everything would pass; add one",
    ),
    "correction": (KEEP + ACCESS.format("") + "[search.correction]\n", "search.correction: "),
    "synonyms": (KEEP + ACCESS.format("") + "[search.synonyms]\n", "search.synonyms: "),
    "suggestions": (
        KEEP + ACCESS.format("") + "[search.suggestions]\n",
        "search.suggestions: would show words of documents that a token may not see",
    ),
    "expansion": (KEEP + ACCESS.format("") + "[search.expansion]\n", "search.expansion: "),
    "pgvector": (
        KEEP + ACCESS.format("") + '[store]\nengine = "pgvector"\n',
        "store.engine: server.access needs the embedded index",
    ),
    "qdrant": (KEEP + ACCESS.format("") + '[store]\nengine = "qdrant"\n', "store.engine"),
    "no_rules": (
        KEEP + "[server]\naccess = true\n",
        "server.access_rules: is empty, so no token has a rule",
    ),
    "same_name": (
        KEEP + ACCESS.format("") + '[[server.access_rules]]\nname = "a"\nfilters = {}\n',
        "server.access_rules[1].name: 'a' is the name of another rule; rename one of them",
    ),
    "default_alone": (KEEP + '[server]\naccess_default = "all"\n', "server.access_default"),
    "statistics_alone": (
        KEEP + '[server]\naccess_statistics = "visible"\n',
        "server.access_statistics",
    ),
    "boilerplate": (KEEP + OWN, 'build.boilerplate: must be "keep" with server.access_stat'),
    "model": (
        KEEP + OWN + '[embedding]\nprovider = "fastembed"\nmodel = "m"\n',
        "embedding.provider: 'fastembed' embeds texts together, and trains on all of them",
    ),
}


@pytest.mark.parametrize(
    ("lines", "said"),
    REFUSED.values(),
    ids=REFUSED,
)
def test_features_that_reveal_other_documents_are_refused(
    make_project: MakeProject, lines: str, said: str
) -> None:
    project = make_project({"a.md": "a"}, config=f"{CONFIG}\n{lines}")
    result = project.run("build")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("lines", ["", '[embedding]\nprovider = "none"\n'], ids=["static", "none"])
def test_counts_for_own_statistics_are_built(make_project: MakeProject, lines: str) -> None:
    keep = '[build]\nduplicates = "keep"\nboilerplate = "keep"\n'
    project = make_project({"a.md": "a"}, config=f"{CONFIG}\n{keep}{OWN}{lines}")
    project.succeed("build", "--quiet")
    assert [*project.root.glob(".foundry/index/v*/statistics/postings.counts.npy")]


def load(make_project: MakeProject, lines: str) -> Config:
    return load_config(make_project({"a.md": "a"}, config=f"{CONFIG}\n{lines}").root)


@pytest.mark.parametrize(
    "filters",
    [
        *('tags = "a"', 'tags = ["a", "b"]', 'path = ["docs/", "wiki"]', 'source = "s"', ""),
        *('modified_after = "2024-05-31"', 'modified_before = ["2024-05-31T10:00:00Z"]'),
        *('media_type = "text/html", tags = "a"',),
    ],
    ids=str,
)
def test_a_rule_may_have_the_filters_of_a_search(make_project: MakeProject, filters: str) -> None:
    assert load(make_project, KEEP + ACCESS.format(filters)).server.interfaces["access"]


def test_stages_that_reveal_no_other_documents_may_be_chosen(
    make_project: MakeProject,
) -> None:
    names = (
        *("operators", "links", "recency", "anchors", "heuristics", "word_parts"),
        *("adaptive_weights", "near_duplicates", "document_cap", "languages", "facets"),
    )
    tables = "".join(f"[search.{name}]\n" for name in names)
    assert {*load(make_project, KEEP + ACCESS.format("") + tables).stages} == {*names}


@pytest.mark.parametrize(("count", "fits"), [(1000, True), (1001, False)])
def test_there_are_at_most_a_thousand_rules(
    make_project: MakeProject, count: int, fits: bool
) -> None:
    rules = "".join(
        f'[[server.access_rules]]\nname = "r{number}"\nfilters = {{}}\n' for number in range(count)
    )
    lines = f"{KEEP}[server]\naccess = true\n{rules}"
    if fits:
        assert load(make_project, lines)
        return
    with pytest.raises(ConfigError, match="at most 1000 items"):
        load(make_project, lines)


def test_scores_depend_on_all_documents_by_default(
    make_project: MakeProject,
) -> None:
    assert not load(make_project, KEEP + ACCESS.format("")).index.own_statistics
