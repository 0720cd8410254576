"""Reads numbers with their units: "14 days" equals "two weeks", but not "14 hours"."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

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

_QUANTITY = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:[.,\u00a0\u202f]\d+)*)"
    r"(?: ?(?:[-\u2013\u2014]|to) ?(?P<upper>\d+(?:[.,]\d+)*))?"
    r"[*_]{0,2}[- \u00a0\u202f]{0,2}[*_]{0,2}(?P<next>%|[^\W\d_]+)?"
)
_BEFORE = re.compile(r"([^\W\d_]+)[\W_]{0,2}\Z")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, its value, and the words next to it."""

    written: str
    value: str
    kind: str  # Kind of unit, or empty
    size: float  # In the smallest unit of its kind
    before: str
    around: tuple[str, str]
    group: int  # Shared by both ends of a range

    def equals(self, other: "Quantity") -> bool:
        """Return whether both are the same, as far as their units show."""
        if self.kind and other.kind:
            return self.kind == other.kind and abs(self.size - other.size) <= SAME * self.size
        return self.value == other.value

    def rivals(self, other: "Quantity") -> bool:
        """Return whether the other could replace this one."""
        if self.kind or other.kind:
            return self.kind == other.kind
        is_version = self.value.count(".") == other.value.count(".") > 0
        pairs = zip(self.around, other.around, strict=True)
        return is_version or any(one and one == another for one, another in pairs)


def read_quantities(
    text: str, spoken: Iterable[tuple[str, str]], stem: Callable[[str], str | None]
) -> list[Quantity]:
    """Return the quantities of a text; `spoken` are values with the words for them in the text."""
    for value, said in spoken:
        text = re.sub(rf"\b{re.escape(said)}\b", value, text, flags=re.IGNORECASE)
    found = []
    for group, match in enumerate(_QUANTITY.finditer(text)):
        before = _BEFORE.search(text[max(0, match.start() - 30) : match.start()])
        after = (match["next"] or "").lower()
        kind, factor = _KINDS.get(after) or _KINDS.get(after.removesuffix("s"), ("", 1.0))
        last = before[1].lower() if before else ""
        around = (stem(last) or "", stem(after) or after)
        for written in filter(None, (match["number"], match["upper"])):
            plain = re.sub("[,\u00a0\u202f]", "", written)
            is_number = plain.count(".") < 2
            value = f"{float(plain):.12g}" if is_number else plain
            size = float(value) * factor if is_number else 0.0
            found.append(Quantity(written, value, kind, size, last, around, group))
    return found
