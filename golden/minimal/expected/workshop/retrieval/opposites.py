"""Lists opposites, and detects contradictions between texts with nearly the same words.

An entry of the tables has two sides; each word of one is an opposite of each word of the other.
"""

import re
from collections import Counter
from collections.abc import Iterator

Side = frozenset[str]

MAX_DOUBLED = 6  # Maximum length of a verb whose last letter is doubled: omit, omitted.

# Negations in common languages; single characters for scripts without spaces.
DENYING = frozenset(
    "not no never none nobody nothing neither nor cannot without unless except"
    " nicht kein keine keinen keinem keiner keines nie niemals ohne"
    " pas jamais sans aucun aucune ni nunca sin ningún ninguna ningún"
    " non mai senza nessun nessuna não nem sem nunca niet geen nooit zonder".split()
)
DENYING_SIGNS = re.compile(r"[不没沒未無无勿禁]|ない|ません")
_WORDS = """
more/less,fewer most/least,fewest longer/shorter long/short longest/shortest higher/lower high/low
faster,quicker/slower fast,quick/slow fastest,quickest/slowest quickly,rapidly/slowly
larger,bigger,greater/smaller,lesser large,big/small,little largest,biggest/smallest
above,over/below,under,beneath before,prior/after,afterwards,following earlier,sooner/later
first/last early/late best/worst better/worse always/never,rarely,seldom,sometimes max/min
inside,indoors,within/outside,outdoors internal/external cheaper/dearer,costlier
cheap/expensive,costly easy,easier/hard,harder,difficult hot,warm/cold,cool
hotter,warmer/colder,cooler wet/dry full/empty heavy/light heavier/lighter nearer/farther
deep/shallow thick/thin wide/narrow wider/narrower strong/weak stronger/weaker upper/lower
front/back,rear public/private manual,manually/automatic,automatically
required,mandatory,compulsory,obligatory/optional,voluntary safe/dangerous,unsafe,hazardous
same,identical/different alive/dead male,males/female,females success/failure
legal,lawful/illegal,unlawful true/false synchronous/asynchronous ascending/descending
north,northern/south,southern east,eastern/west,western horizontal,horizontally/vertical,vertically
clockwise/anticlockwise,counterclockwise temporary,temporarily/permanent,permanently
partial,partly,partially/complete,entirely,fully free/paid local,locally/remote,remotely
up,upwards/down,downwards older,oldest/newer,newest younger/older positive/negative
simple/complex,complicated odd/even
highest,strongest,maximum,maximal/lowest,weakest,minimum,minimal new/old
safe,safely,secure/unsafe,dangerous,risky most,many/few major/minor
mild,milder/severe,severer,harsher parallel/perpendicular,orthogonal real/virtual active/passive
primary/secondary central/peripheral kinetic/static direct,directly/indirect,indirectly inner/outer
inward/outward forward,forwards/backward,backwards present/absent presence/absence alike/unlike
global,globally/local,locally general/specific single,one/multiple,several,various gain/loss
rough/smooth loose,loosely/tight,tightly hard/soft bright,brighter/dark,darker,dim,dimmer
loud,louder/quiet,quieter clean,cleaner/dirty,dirtier rich,richer/poor,poorer
attractive,attracting/repulsive,repelling acute/chronic solid/liquid,gaseous benign/malignant
common,frequent/rare,uncommon frequently,commonly,usually/rarely,seldom,never senior/junior
urban/rural domestic/foreign natural/artificial,synthetic sweet/sour,bitter fresh/stale,old
raw/cooked open,opened/closed,shut,sealed moist/dry mutable/immutable
explicit,explicitly/implicit,implicitly inclusive/exclusive absolute/relative linear/nonlinear
finite/infinite inbound,incoming/outbound,outgoing upstream/downstream input/output
sender/receiver,recipient client/server parent/child buyer/seller employer/employee supply/demand
left,leftmost/right,rightmost top,topmost/bottom,bottommost dominant/recessive aerobic/anaerobic
proximal/distal anterior/posterior intrinsic/extrinsic analog,analogue/digital opaque/transparent
visible,visibly/invisible,hidden lossless/lossy
sequential,sequentially/parallel,concurrently,simultaneously
successful,successfully/unsuccessful,unsuccessfully valid/invalid known/unknown
equal,equally/unequal,unequally online/offline wired/wireless nearest,closest/farthest,furthest
sunrise/sunset slightly,somewhat/greatly,considerably,significantly,drastically
warm,warmer/cool,cooler,cold,colder boiling/freezing immediately,instantly/eventually,gradually
beneficial,helpful/harmful,detrimental advantage/disadvantage benefit/drawback strength/weakness
entire,full,complete/partial upgrade/downgrade minority/majority everyone,everybody,all/nobody,none
uphill/downhill inhale/exhale thicker/thinner denser/sparser dense/sparse steep/gentle
tall,taller/short,shorter often,frequently/rarely,seldom sharp/blunt,dull summer/winter
spring/autumn morning/evening day/night weekly/daily,monthly,yearly daily/hourly
source/destination,target alone/together useful/useless near,close/far,distant on/off links/rechts
vor/nach gauche/droite avant/après izquierda/derecha antes/después sinistra/destra prima/dopo
erlaubt/verboten ein/aus oui/non
"""
_VERBS = """
exceed/undercut enable,activate/disable,deactivate open/close,shut
add,keep,remain,stay,retain,preserve/remove,delete,discard,lose,erase upload/download
encrypt/decrypt succeed,pass/fail gain/lose import/export lock/unlock push/pull expand/collapse
buy/sell win/lose install/uninstall remember/forget attract/repel strengthen/weaken
increase,rise,grow,raise,enlarge/decrease,reduce,fall,shrink,lower,diminish,decline
extend,lengthen/shorten,reduce improve,enhance/worsen,degrade,deteriorate
keep,retain,preserve/delete,remove,discard,erase,lose,destroy
allow,permit,enable/forbid,prohibit,deny,prevent,block,ban,disallow
accept,approve,grant/reject,refuse,deny,decline include,contain/exclude,omit,lack
begin,start/end,finish,stop,cease mount/unmount attach,connect,join/detach,disconnect,separate
notice,recognize,recognise,detect/ignore,overlook,miss absorb/emit heat,warm/cool,chill
freeze/melt,thaw,boil speed,accelerate,hasten/decelerate,delay send/receive borrow/lend
ascend,climb/descend hire/fire promote/demote create,build/destroy,delete
add,insert,append/remove,subtract,delete activate,trigger/deactivate,suppress,inhibit
stimulate/inhibit,suppress encourage/discourage confirm/deny,refute agree/disagree
appear/disappear,vanish split,divide/merge,combine,join simplify/complicate thicken/thin
widen/narrow tighten/loosen fill/empty load/unload wrap/unwrap fold/unfold compress/decompress
show,display,reveal/hide,conceal publish/unpublish subscribe/unsubscribe float/sink
deposit/withdraw inherit/override wake/sleep protect/expose,endanger cause/prevent require/forbid
"""
# These opposites count only between texts with nearly the same words; elsewhere, they prove little.
_FUNCTION_WORDS = """
in/out into/from over/under with/without yes/no must/may shall/may all/none least/most
first/last front/back read/write
"""
_PASTS = {
    "begin": "began begun beginning",
    "keep": "kept",
    "lose": "lost",
    "rise": "rose risen",
    "grow": "grew grown",
    "fall": "fell fallen",
    "shrink": "shrank shrunk",
    "forget": "forgot forgotten",
    "buy": "bought",
    "sell": "sold",
    "win": "won",
    "send": "sent",
    "lend": "lent",
    "build": "built",
    "freeze": "froze frozen",
    "hide": "hid hidden",
    "show": "shown",
    "forbid": "forbade forbidden forbidding",
    "shut": "shut shutting",
    "split": "split splitting",
    "sink": "sank sunk",
    "wake": "woke woken",
    "withdraw": "withdrew withdrawn",
    "override": "overrode overridden",
    "undercut": "undercut",
    "remain": "remaining",
}
_PREFIXES = "un in im il ir non dis de anti a".split()

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019]t\b)?")


def _forms(verb: str) -> Iterator[str]:
    stem = verb.removesuffix("e")
    yield from (verb, f"{verb}s", f"{stem}ed", f"{stem}ing", *_PASTS.get(verb, "").split())
    if verb.endswith("y") and verb[-2] not in "aeou":
        yield from (f"{verb[:-1]}ies", f"{verb[:-1]}ied")
    if verb.endswith(("s", "sh", "ch", "x")):
        yield f"{verb}es"
    if len(verb) <= MAX_DOUBLED and verb[-1] in "bdgmnprt" and verb[-2] in "aeiou":
        yield from (f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing")


def _entries(table: str, *, are_verbs: bool = False) -> Iterator[tuple[str, Side, Side]]:
    """Yield each word of a table with its own side and the opposite side."""
    for entry in table.split():
        one, other = (
            frozenset(form for word in side.split(",") for form in _all(word, are_verbs))
            for side in entry.split("/")
        )
        yield from ((word, one, other) for word in one)
        yield from ((word, other, one) for word in other)


def _all(word: str, is_verb: bool) -> Iterator[str]:
    return _forms(word) if is_verb else iter((word,))


SIDES: dict[str, list[tuple[Side, Side]]] = {}
"""Content words, each with its own and the opposite side of every entry that has it."""
for _word, _own, _other in (*_entries(_WORDS), *_entries(_VERBS, are_verbs=True)):
    SIDES.setdefault(_word, []).append((_own, _other))
OPPOSITES: dict[str, Side] = {
    word: frozenset[str]().union(*(other for _, other in sides)) for word, sides in SIDES.items()
}
"""Words with their opposites, including function words."""
for _word, _, _other in _entries(_FUNCTION_WORDS):
    OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | _other


def is_opposed(text: str, other: str) -> bool:
    """Return whether two texts in nearly the same words contradict each other.

    They do if one has more negations, if one has an antonym of a word in the other, or if both have
    the same two antonyms in a different order, as in "left, then right".
    """
    words, others = words_of(text), words_of(other)
    if _count_denials(words, text) != _count_denials(others, other):
        return True
    counts, other_counts = Counter(words), Counter(others)
    only, only_other = counts - other_counts, other_counts - counts
    if any(not only_other.keys().isdisjoint(opposites_of(word)) for word in only):
        return True
    if any(not only.keys().isdisjoint(_denied(word)) for word in only_other):
        return True
    return not (only or only_other) and _sides(words) != _sides(others)


def opposites_of(word: str) -> set[str]:
    """Return candidate antonyms of a lower-case word; some may not be real words."""
    return _denied(word).union(OPPOSITES.get(word, ()))


def _denied(word: str) -> set[str]:
    return {prefix + word for prefix in _PREFIXES} if len(word) > 3 else set()


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, keeping contractions."""
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]


def _count_denials(words: list[str], text: str) -> int:
    denials = sum(word in DENYING or word.endswith("n't") for word in words)
    return denials + len(DENYING_SIGNS.findall(text))


def _sides(words: list[str]) -> list[str]:
    return [word for word in words if word in OPPOSITES]
