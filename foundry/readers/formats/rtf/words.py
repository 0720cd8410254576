"""Control words of RTF by handler."""

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.running import PAGE_NUMBER

CONTENTS = frozenset({"TOC", "INDEX", "TOA"})
PAGES = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "PAGEREF"})
SIGNS = {
    **{
        "tab": "\t",
        "line": "\n",
        "lbr": "\n",
        "column": "\n",
        "emdash": "\u2014",
        "endash": "\u2013",
        "bullet": "•",
    },
    **{"lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d"},
    **{"emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d", "zwnj": "\u200c"},
    **{"nestcell": ", ", "nestrow": "; ", "chpgn": PAGE_NUMBER, "sectnum": ""},
}
SYMBOLS = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\"}
# Destinations without document text.
PASSED_OVER = frozenset(
    "colortbl pict themedata colorschememapping latentstyles datastore generator"
    " rsidtbl xmlnstbl mmathPr filetbl revtbl pgptbl objdata nonshppict shprslt"
    " bkmkstart bkmkend atnid atnauthor atndate atntime atnicn atnref atrfstart atrfend"
    " ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn panose falt fontemb keycode"
    " pnseclvl template background wgrffmtfilter oldcprops oldpprops oldtprops"
    " NeXTGraphic passwordhash protusertbl userprops docvar factoidname mhtmltag".split()
)
MATH = {"mden": "/", "msup": "^", "msub": "_"}
TRANSPARENT = frozenset("shppict shpinst shpgrp do dptxbx ud moMath mr mf mnum me me oMath".split())
LEFT_OUT = {
    **dict.fromkeys(
        "author subject doccomm operator manager company category hlinkbase comment".split(),
        Omission.METADATA,
    ),
    **dict.fromkeys(("xe", "tc", "rxe"), Omission.MACRO),
    "annotation": Omission.COMMENT,
}
RUNNING = frozenset("header headerl headerr headerf footer footerl footerr footerf".split())
