"""Open and closed compounds: `back up` and `backup`, `meta data`, `230 V`.

Both spellings are indexed. English pairs are left out if the closed form means something else
(`any one`, `anyone`), or if the open form is rare.
"""

import re

# Prefixes, which may precede any word of MIN_PREFIXED or more letters.
_PREFIXES = frozenset(
    "anti bi cyber hyper inter intra macro meta micro multi nano non pre pseudo quasi semi sub tri"
    " ultra".split()
)
MIN_PREFIXED = 3  # Minimum number of letters in the word after a prefix.

# Each first word, then the words that may follow it.
_PAIRS = """
add on; air flow port; back bone end fill ground log space up; band width; base line; black list;
boot loader; bottle neck; bread crumb; break down even point through; build out; burn out; call
back out; carry over; chat bot; check box boxes list out point sum; clean up; clip board; code
base; count down; cross over; cut off; dash board; data base center file frame point set sheet
source store type; day light time; dead line lock; drive way; drop box down out; ear drum phone;
earth quake; end point; fail over; fall back out; feed back; file name path system; fire fighter
proof wall; flash back light; flow chart; follow up; foot note print; frame work; gear box; green
house; ground water; hand book off out over set shake writing; hard code coded ware; head count
line phone room set; health care; heart beat; help desk; high light; hold up; home page; horse
power; host name; hot fix key spot; house keeping; key board chain note pad point word; kick off;
knock out; land fill mark slide; lap top; lay off out; life cycle span style time; light house;
lock down out; log book in off on out; look up; mail box boxes; main frame land stream; man power;
mark down up; market place; mile stone; mock up; name server space; net work working; news group
letter paper; nick name; note book pad; pace maker; page rank; pass code key phrase port word; pay
back load off out roll; pick up; pipe line; place holder; play back ground list; plug in; pop up;
post code script; power house; print out; proof read; pull down; push back; quick start; race
track; rail road way; rain fall water; read out; real time; road block map; roll back out over up;
run away book time; safe guard; sand box boxes; save point; score board card; screen saver shot;
scroll bar; set back up; share holder; short cut hand list; show case; shut down off; side bar car
effect walk; sign in off on out up; slide show; slow down; smart phone watch; snap shot; sound
track; space craft ship; speed up; spin off; spread sheet; stair case; stake holder; stand alone by
still; start up; step wise; stock pile; stop gap watch; store front; stream line lined; style
sheet; sun light rise set; switch board over; take away off out over; team work; text book box
boxes; thread pool; throw back; thumb nail; time box frame line out span stamp table zone; tool bar
box boxes chain kit set tip; touch pad screen; trade mark off; tread mill; trouble shoot shooting;
turn around key out over; type face script; user base name space; video tape; view point port;
voice mail; wait list; wake up; walk through; wall paper; warm up; waste water; watch dog; water
fall front mark proof shed way; wave form guide length; way point; web app cam hook master page
server service site socket; week day end; wheel chair; white board list paper space; wild card fire
life; wind mill screen shield; wire frame less; work around bench book day flow force group load
place sheet shop space station; wrap around; zip file
"""

_SECONDS = {
    first: frozenset(seconds)
    for first, *seconds in (entry.split() for entry in _PAIRS.replace("\n", " ").split(";"))
}
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNITS = frozenset(
    "A Ah B GB GHz GiB Hz J K KB KiB MB MHz MPa MW MiB N Nm Pa TB TiB V W Wh bar bit cl cm dB"
    " dl fps ft g h kB kHz kJ kN kPa kV kW kWh kb kg km kph l lb m mA mAh mL mV mW mb mg min ml"
    " mm mph ms nm ns oz pF ppm psi pt px rpm s \u03a9 k\u03a9 M\u03a9 uA uF ug"
    " um us".split()
)


def may_open(text: str) -> bool:
    """Return whether a word or number can be the first half of a compound."""
    folded = text.casefold()
    return folded in _SECONDS or folded in _PREFIXES or _NUMBER.fullmatch(text) is not None


def is_one_word(first: str, second: str) -> bool:
    """Return whether two words in a row, or a number and its unit, are often written as one."""
    if first[-1] in "0123456789":
        return second in _UNITS
    first, second = first.casefold(), second.casefold()
    if first in _PREFIXES and len(second) >= MIN_PREFIXED and second.isalpha():
        return True
    seconds = _SECONDS.get(first, ())
    return second in seconds or second.removesuffix("s") in seconds
