"""Maps British spellings of English words to American ones, so that either finds the other.

Spellings are only compared with each other, so a rule may also rewrite a word without a variant
(`cerise`), unless the result is another word. No rule is needed where the stemmer unifies both
spellings (`modelling`).
"""

import re

_OUR = re.compile(
    "((?:be|bi|dis|en|mis|multi|over|re|techni|tri|un|water)?"
    "(?:arb|ard|arm|behavi|cand|clam|col|demean|dol|enam|endeav|fav|ferv|flav|glam|harb|hon|hum|lab"
    "|neighb|od|parl|ranc|rig|rum|sav|savi|splend|succ|tum|val|vap|vig)o)ur(.*)"
)
_RE = re.compile(
    "(.*(?:calib|cent|fib|goit|lit|louv|lust|manoeuv|meag|met|mit|och|sab|saltpet|sepulch|somb"
    "|spect|theat|tit))r(?:(ing.*|abl.*|abil.*|ed)|e(|s|board.*|fold.*|glass|lin.*|piece.*))"
)
_ISE = re.compile(
    "((?:un|non)?(.{2,}[b-df-hj-np-tvxyz])i)s"
    "(e[ds]?|ers?|ings?|ingly|abl[ey]|ability|ations?|ational)"
)
_YSE = re.compile("(.*(?:anal|catal|dial|electrol|hydrol|paral)y)s(e[ds]?|ers?|ing)")
_OGUE = re.compile("(.*(?:anal|catal|dial|homol|monol)og)u(?:e(s?)|(e[dr]|ers|ing))")
_ENCE = re.compile("(def|off|pret|lic)enc(e|ed|ees?|eless|ers?|es|ing)")
_LL = re.compile("((?:re)?(?:counsel|dial|duel|fuel|initial|jewel|victual))l(e[dr]|ers|ings?|ors?)")
# Word beginnings that keep `ise`: Americans also write these words with `s`, or the form with `ize`
# is another word.
_ONLY_WITH_S = frozenset(
    "adv advert appr chast chem circumc comprom compr conc dem desp dev enterpr exc exerc"
    " expert disenfranch enfranch franch imprec improv inc merchand metropol moonr mort parad"
    " pelv portcull prec prem prev prom readv rem repr rev sunr superv surm surpr telev treat"
    " trell upr val".split()
)

_STARTS, _WORDS = (
    dict(pair.split(":") for pair in pairs.split())
    for pairs in (
        "acknowledgement:acknowledgment aeroplane:airplane aluminium:aluminum anaem:anem"
        " anaesth:anesth archaeo:archeo artefact:artifact caesium:cesium cosy:cozy chequer:checker"
        " cheque:check diarrhoea:diarrhea encyclopaed:encycloped foet:fet grey:gray gynaeco:gyneco"
        " haema:hema haemo:hemo ischaem:ischem jewellery:jewelry judgement:judgment leukaem:leukem"
        " mould:mold moult:molt moustache:mustache oedema:edema oesophag:esophag oestr:estr"
        " orthopaed:orthoped paediatr:pediatr plough:plow practis:practic pyjama:pajama"
        " sceptic:skeptic skilful:skillful sulph:sulf wilful:willful yoghurt:yogurt",
        "gramme:gram grammes:grams kilogramme:kilogram kilogrammes:kilograms programme:program"
        " programmes:programs tyre:tire tyres:tires",
    )
)
_START = re.compile("|".join(_STARTS))


def american(word: str) -> str:
    """Return the American spelling of a case-folded word, or the word itself."""
    if found := _START.match(word):
        word = _STARTS[found[0]] + word[found.end() :]
    if "our" in word and (found := _OUR.fullmatch(word)):
        return f"{found[1]}r{found[2]}"
    if "og" in word and (found := _OGUE.fullmatch(word)):
        return found[1] + (found[2] or found[3] or "")
    if "is" in word and (found := _ISE.fullmatch(word)):
        return word if found[2] in _ONLY_WITH_S else f"{found[1]}z{found[3]}"
    if "ys" in word and (found := _YSE.fullmatch(word)):
        return f"{found[1]}z{found[2]}"
    if "enc" in word and (found := _ENCE.fullmatch(word)):
        return f"{found[1]}ens{found[2]}"
    if "ll" in word and (found := _LL.fullmatch(word)):
        return found[1] + found[2]
    if "r" in word and (found := _RE.fullmatch(word)):
        stem = found[1].replace("manoeuv", "maneuv")
        return f"{stem}er{found[2] or found[3]}"
    return _WORDS.get(word, word)
