"""Which rights a configuration may choose, and what cannot be combined with them."""

import pytest
from conftest import CONFIG, MakeProject

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
        "server.access_rules[0].filters: 'colour' is no filter of this index; known: source,",
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
        "server.access_rules[0].filters.tags: has no value, and would let everything through",
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
        "server.access_rules: nobody can see anything without rules",
    ),
    "same_name": (
        KEEP + ACCESS.format("") + '[[server.access_rules]]\nname = "a"\nfilters = {}\n',
        "server.access_rules[1].name: 'a' is there twice",
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
def test_what_would_tell_of_other_documents_is_refused(
    make_project: MakeProject, lines: str, said: str
) -> None:
    project = make_project({"a.md": "a"}, config=f"{CONFIG}\n{lines}")
    result = project.run("build")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("lines", ["", '[embedding]\nprovider = "none"\n'], ids=["static", "none"])
def test_statistics_of_what_is_visible_are_built(make_project: MakeProject, lines: str) -> None:
    keep = '[build]\nduplicates = "keep"\nboilerplate = "keep"\n'
    project = make_project({"a.md": "a"}, config=f"{CONFIG}\n{keep}{OWN}{lines}")
    project.succeed("build", "--quiet")
    assert [*project.root.glob(".foundry/index/v*/statistics/postings.counts.npy")]
