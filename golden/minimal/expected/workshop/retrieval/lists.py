"""A pattern for lists with their lead-in, without which an item can mean the opposite.

An example is an item below "No person may sell it unless:".
"""

import re

_MARKS = r"[-*+\u2022]", r"\d{1,3}[.)]", r"\(\w{1,5}\)"
_ITEMS = "|".join(rf"(?:(?:{mark})?[ \t]+\S[^\n]*+(?:\n[^\n]+)*+\n*+)++" for mark in _MARKS)
LIST = re.compile(
    rf"(?:\A|\n)(?P<stem>(?:(?!\#|[ \t]*(?:{_MARKS[0]}|{_MARKS[1]})[ \t])[^\n]++\n){{1,3}}?)"
    rf"(?<=[:\u2014a-z*_]\n)\s*+(?P<items>{_ITEMS})"
)
