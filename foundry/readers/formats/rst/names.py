"""Names of directives by kind: documented objects, code, admonitions, settings."""

from foundry.readers.formats.pages.blocks import CLOSED, TAB

CLASSES = frozenset("class exception autoclass autoexception interface struct union enum".split())
CALLABLES = frozenset(
    "function method classmethod staticmethod autofunction automethod coroutinefunction"
    " coroutinemethod".split()
)
OBJECTS = frozenset(
    "function class method classmethod staticmethod attribute property data exception decorator"
    " decoratormethod module type typealias macro member struct union enum enumerator var concept"
    " describe object option cmdoption envvar confval setting templatetag templatefilter"
    " fieldlookup django-admin django-admin-option opcode pdbcommand 2to3fixer command event signal"
    " directive autofunction autoclass automethod autoattribute autodata autoexception"
    " autoproperty autodecorator"
    " autoprogram autoflask autoenum autopydantic_model autopydantic_settings doxygenfunction"
    " doxygenclass doxygenstruct doxygenenum doxygendefine doxygentypedef ini nb confsetting"
    " console-command limited-api-list".split()
)
CODE = frozenset(
    "code code-block sourcecode code-cell testcode testoutput doctest ipython prompt plot"
    " jupyter-execute jupyter-input jupyter-output productionlist graphviz digraph graph mermaid"
    " uml plantuml code-tab exec exec-code pyversity literal console parsed-code nbinput nboutput"
    " runblock bokeh-plot altair-plot exec_code terminal asciinema termynal".split()
)
UNSEEN = frozenset(("testsetup", "testcleanup"))
LEADING = frozenset(("toctree", "contents", "autosummary-toc", "tableofcontents", "sectnum"))
SETTINGS = frozenset(
    "highlight module currentmodule default-domain default-role program tabularcolumns meta class"
    " rst-class cssclass role title namespace namespace-push namespace-pop currentlibrary"
    " restructuredtext-test-directive unicode date target-notes only ifconfig sectionauthor"
    " codeauthor moduleauthor".split()
)
INDEXES = frozenset(("index",))
INCLUDED = frozenset(("include", "literalinclude", "mdinclude", "parsed-literal-include"))
PANELS = {
    **dict.fromkeys(("tab", "tab-item", "group-tab"), TAB),
    **dict.fromkeys(("dropdown", "details", "collapse", "toggle"), CLOSED),
}
"""Directives of sphinx-design, sphinx-tabs and other extensions whose content opens on a click."""
BUTTONS = frozenset(("button-link", "button-ref"))
"""Directives whose argument is a target."""
VERSIONS = {
    "versionadded": "Added in version",
    "version-added": "Added in version",
    "versionchanged": "Changed in version",
    "version-changed": "Changed in version",
    "deprecated": "Deprecated since version",
    "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "version-removed": "Removed in version",
    "deprecated-removed": "Deprecated since version",
    "soft-deprecated": "Soft deprecated since version",
}
ADMONITIONS = {
    "seealso": "See also",
    "todo": "Todo",
    "availability": "Availability",
    "impl-detail": "CPython implementation detail",
    "info": "Info",
    "question": "Question",
    "example": "Example",
    "success": "Success",
    "admonition-todo": "Todo",
}
