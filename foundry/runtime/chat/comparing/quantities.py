"""Reads numbers with their units: "14 days" is "two weeks", and is not "14 hours"."""

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from ..claims import UNCOUNTED, numbers_of

_UNITS = """
ms,millisecond=time .001;s,sec,second=time 1;min,minute=time 60;h,hr,hour=time 3600;day=time 86400
week=time 604800;month=time 2628000;year=time 31536000;decade=time 315360000
mm,millimetre,millimeter=length 1;cm,centimetre,centimeter=length 10;m,metre,meter=length 1000
km,kilometre,kilometer=length 1000000;inch,inche=length 25.4;foot,feet,ft=length 304.8
yard=length 914.4;mile=length 1609344;mg,milligram=mass .001;g,gram,gramme=mass 1
kg,kilo,kilogram=mass 1000;t,ton,tonne=mass 1000000;oz,ounce=mass 28.35;lb,pound=mass 453.6
ml,millilitre,milliliter=volume 1;l,litre,liter=volume 1000;pint=volume 473;gallon=volume 3785
tsp,teaspoon=volume 5;tbsp,tablespoon=volume 15;cup=volume 240;byte=data 1;kb,kilobyte=data 1e3
mb,megabyte=data 1e6;gb,gigabyte=data 1e9;tb,terabyte=data 1e12;%,percent=percent 1
v,volt=volt 1;kv,kilovolt=volt 1000;w,watt=watt 1;kw,kilowatt=watt 1000;mw,megawatt=watt 1e6
a,amp,ampere=ampere 1;ma,milliampere=ampere .001;hz,hertz=hertz 1;khz=hertz 1e3;mhz=hertz 1e6
ghz=hertz 1e9;bar=pressure 1;psi=pressure .06895;kpa=pressure .01;mpa=pressure 10
dollar,usd=dollar 1;euro,eur=euro 1;cent=cent 1;rpm=turn 1;nm=torque 1
"""
_KINDS = {
    name: (kind, float(factor))
    for entry in _UNITS.strip().replace("\n", ";").split(";")
    for names, kind, factor in [re.split("[= ]", entry)]
    for name in names.split(",")
}
SAME = 0.01  # Relative tolerance, since sizes may be rounded

UNITS = {
    form: unit for name, unit in _KINDS.items() if len(name) > 2 for form in (name, f"{name}s")
}
"""Kind and size of units that are words, by their singular and plural."""

_QUANTITY = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:[.,\u00a0\u202f]\d+)*)"
    r"(?: ?(?:[-\u2013\u2014]|to) ?(?P<upper>\d+(?:[.,]\d+)*))?"
    r"[*_]{0,2}[- \u00a0\u202f]{0,2}[*_]{0,2}(?P<next>%|[^\W\d_]+)?"
)
_HALF = re.compile(rf"\bhalf(?: an?)?(?= (?:{'|'.join(UNITS)})\b)", re.IGNORECASE)
_QUARTER = re.compile(rf"\bquarter(?: of an?)?(?= (?:{'|'.join(UNITS)})\b)", re.IGNORECASE)

# Numbers that a model may have counted, added up or converted.
_RECKONED = re.compile(
    r"\b(?:altogether|total|together|sum|combined|overall|between|double|twice|half|quarter|third"
    r"|longer|shorter|earlier|later|more|fewer|less|both|each|per|times|ways?|steps?|options?"
    r"|kinds?|types?|things|cases?|variables?|commands?|places?|parts?|states?)\b",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number with its unit, if it has one."""

    value: str
    kind: str
    size: float  # In the base unit of its kind, such as millimetres or grams

    def equals(self, other: "Quantity") -> bool:
        """Return whether the sizes are nearly equal, or the numbers equal if a unit is unknown."""
        if self.kind and other.kind:
            return self.kind == other.kind and abs(self.size - other.size) <= SAME * self.size
        return self.value == other.value


def read_quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text, in digits or in words, with their units."""
    for value, said in numbers_of(text).items():
        if not said[0].isdigit() and said not in UNCOUNTED:
            text = re.sub(rf"\b{re.escape(said)}\b", value, text, flags=re.IGNORECASE)
    text = _QUARTER.sub("0.25", _HALF.sub("0.5", text))
    found = []
    for match in _QUANTITY.finditer(text):
        after = (match["next"] or "").lower()
        kind, factor = _KINDS.get(after) or _KINDS.get(after.removesuffix("s"), ("", 1.0))
        for written in filter(None, (match["number"], match["upper"])):
            plain = re.sub("[,\u00a0\u202f]", "", written)
            if plain.count(".") < 2:
                number = float(plain)
                found.append(Quantity(f"{number:.12g}", kind, number * factor))
            else:
                found.append(Quantity(plain, kind, 0.0))
    return found


def find_missing_numbers(text: str, known: Set[str], quantities: Sequence[Quantity]) -> list[str]:
    """Return the numbers of a text that are neither known nor equal to a quantity.

    Returns none if words such as "total" suggest that the numbers were computed.
    """
    if _RECKONED.search(text):
        return []
    mine = {one.value: one for one in read_quantities(text)}
    return [
        written
        for value, written in numbers_of(text).items()
        if value not in known
        and written not in UNCOUNTED
        and not (value in mine and any(map(mine[value].equals, quantities)))
    ]
