"""LaTeX abbreviations and glossary terms: their definitions, uses and printed list."""

import re
from abc import ABC

from foundry.documents.left_out import Omission
from foundry.readers.formats.latex.definitions import Definitions, Term
from foundry.readers.notes import leave_out

_KEY = re.compile(
    r"\b(name|description|short|long)\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^,{}]*))"
)
_USE = re.compile(
    r"(?:gls|ac)(?P<plural>pl?)?$|ac(?:r)?(?P<form>short|long|full|[slf])(?P<forms>pl?)?$",
    re.IGNORECASE,
)
_DEFINING = frozenset(("newacronym", "newglossaryentry", "DeclareAcronym"))
_PRINTING = frozenset("printglossary printglossaries printacronyms".split())


class Terms(Definitions, ABC):
    """Prints a term in full where it is first used, as LaTeX does."""

    def term(self, name: str) -> bool:
        """Define, use or list terms; return False for other commands and unknown terms."""
        if name in _DEFINING:
            self._define_term(name)
        elif name in _PRINTING:
            leave_out(Omission.ATTRIBUTE, self.option())
            for term in self.state.terms.values():
                self.parts.append(f"\n- {term.short}: {term.long}")
            self.parts.append("\n\n")
        elif self.state.terms and (use := _USE.match(name)):
            return self._use(use)
        else:
            return False
        return True

    def _define_term(self, name: str) -> None:
        leave_out(Omission.ATTRIBUTE, self.option())
        key, short = self.source(), self.source()
        if name == "newacronym":
            self.state.terms[key] = Term(self.inline(short), self.argument())
            return
        found = {match[1]: self.inline(match[2] or match[3]) for match in _KEY.finditer(short)}
        shown = found.get("short") or found.get("name") or key
        # The description of a term is printed in the glossary only.
        is_known = name == "newglossaryentry"
        long = found.get("long") or found.get("description", "")
        self.state.terms[key] = Term(shown, long, is_known)

    def _use(self, use: re.Match[str]) -> bool:
        place = self.place
        leave_out(Omission.ATTRIBUTE, self.option())
        term = self.state.terms.get(self.source())
        if term is None:
            self.place = place
            return False
        form = (use["form"] or "")[:1].lower()
        ending = "s" if use["plural"] or use["forms"] else ""
        if form == "s" or (not form and term.is_known):
            self.parts.append(f"{term.short}{ending}")
        elif form == "l":
            self.parts.append(f"{term.long}{ending}")
        else:
            self.parts.append(f"{term.long}{ending} ({term.short}{ending})")
            term.is_known = True
        return True
