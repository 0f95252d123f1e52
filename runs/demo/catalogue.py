# ruff: noqa: E501 - one entry a line, however long its text
"""The catalogue that customers browse: models with long spec sheets. Nothing of it is in the graded records."""

from __future__ import annotations

from typing import Any, NamedTuple


class _Family(NamedTuple):
    code: str
    title: str
    rate: float
    sizes: tuple[str, ...]
    unit: str
    weight: int
    text: str
    words: str


_FAMILIES = (
    _Family("TENT", "Pop-up stall tent", 60, ("3", "6", "9", "12"), "m", 42, "Aluminium frame with a white roof that sheds rain to the back. Two people put it up in a quarter of an hour. Ballast is part of the hire, side walls are not.", "tent stall market event roof canopy"),
    _Family("HEAT", "Patio heater", 21, ("8", "12", "15", "18"), "kW", 24, "Free-standing heater with a tip-over switch. Stands on level ground, two metres from any canvas. Runs on one 11 kg bottle, about nine hours at full flame.", "heater heating gas event outdoor warm market"),
    _Family("GAS", "Propane bottle", 9, ("5", "11", "19", "33"), "kg", 11, "Full bottle with hose and regulator. Counted back full or empty; what is burnt is charged by weight. Never inside a closed tent.", "gas bottle propane heater heating"),
    _Family("LAMP", "Festoon lighting run", 14, ("10", "25", "50", "100"), "m", 6, "Warm white lamps on a rubber cable, one every metre, rated for rain. Runs can be chained up to four. Spare lamps are in the bag.", "light lighting lamp festoon event market outdoor"),
    _Family("TOWR", "Lighting tower", 58, ("4", "6", "8", "9"), "m", 780, "Four LED heads on a telescopic mast, silent battery drive for one night. The mast comes down above 80 km/h of wind.", "light lighting tower outdoor event site night"),
    _Family("GEN", "Silenced generator", 64, ("20", "40", "60", "100"), "kVA", 1240, "Runs a compound or a stage. Tank for ten hours at three quarters of its load, drip tray built in, sockets from 16 to 125 A.", "generator power event site outdoor market"),
    _Family("LIFT", "Scissor lift, electric", 74, ("6", "8", "10", "12"), "m", 1620, "Goes through a single door, non-marking tyres, charger on board. Two people and their tools on the deck.", "lift access platform indoor"),
    _Family("DIG", "Mini digger", 92, ("8", "15", "27", "50"), "x100 kg", 1500, "Rubber tracks, three buckets and a breaker line. The narrow one passes a garden gate.", "digger excavator tracked garden trench"),
    _Family("PLATE", "Plate compactor", 36, ("60", "90", "140", "300"), "kg", 90, "Forward plate with a water tank for paving. Folding handle; fits a van.", "plate compactor paving"),
    _Family("BARR", "Crowd barrier", 3, ("1", "2", "3", "4"), "m", 18, "Galvanised, with flat feet that nobody trips over. Stacks of thirty on a stillage.", "barrier crowd event market fence outdoor"),
    _Family("TOIL", "Mobile toilet", 28, ("1", "2", "3", "4"), "cabin", 95, "Serviced before the event and on request every morning. Needs a hard stand for the lorry.", "toilet event market outdoor cabin"),
    _Family("TABL", "Folding table", 5, ("120", "150", "180", "240"), "cm", 12, "Blow-moulded top, steel legs with a lock. A cloth to the ground can be added.", "table furniture event market stall"),
)  # fmt: skip

_GRADES = (
    ("", "Standard", 1.0, "The model that most customers take."),
    ("-P", "Plus", 1.2, "Newer than two years, with the quiet or the long-life variant of the drive."),
    ("-E", "Event", 1.1, "Cleaned twice, without company lettering, delivered in covers."),
)

_CHECKS = (
    "Delivery note checked against the order",
    "Cables, hoses and straps counted",
    "Safety card in the customer's language",
    "Fuel, charge or fill level noted",
    "Photographs of all four sides",
    "Start and stop shown to the person who signs",
    "Emergency number on the sticker readable",
    "Level ground or spreader plates",
)

_FAQ = (
    (
        "Can I keep it over the weekend?",
        "Yes. Saturday and Sunday count as one day when you collect after 15:00 on Friday.",
    ),
    ("What if it rains?", "Rain is no reason to return a hire early, except for electric machines without a hood."),
    ("Do I need a licence?", "Not on private ground. On the road the rules of your country apply; ask us."),
    ("Who pays for a puncture?", "The hirer, at the list price, unless the damage waiver is on the contract."),
)


def _sheet(family: _Family, size: str, suffix: str, grade: str, factor: float, note: str) -> dict[str, Any]:
    step = family.sizes.index(size) + 1
    return {
        "model_code": f"{family.code}-{size}{suffix}",
        "title": f"{family.title} {size} {family.unit}, {grade.lower()}",
        "list_day_rate": round(family.rate * factor * (0.7 + 0.3 * step), 2),
        "weight_kg": family.weight * step,
        "description": f"{family.text} {note}",
        "hand_over": [f"{number}. {check}" for number, check in enumerate(_CHECKS, start=1)],
        "questions": [{"q": question, "a": answer} for question, answer in _FAQ],
        "depots": [depot for index, depot in enumerate(("Harrowby", "Northgate", "Eastfield")) if (step + index) % 3],
    }


def search(words: str, limit: int) -> dict[str, Any]:
    """The spec sheets of all models for which one of the words fits, best first, at most `limit`."""
    wanted = words.lower().split()
    scored: list[tuple[int, int, dict[str, Any]]] = []
    for family in _FAMILIES:
        known = f"{family.code} {family.title} {family.words}".lower()
        score = sum(word in known for word in wanted)
        if score:
            for size in family.sizes:
                for suffix, grade, factor, note in _GRADES:
                    scored.append((-score, len(scored), _sheet(family, size, suffix, grade, factor, note)))
    sheets = [sheet for _, _, sheet in sorted(scored, key=lambda entry: entry[:2])]
    return {"found": len(sheets), "shown": min(limit, len(sheets)), "models": sheets[:limit]}
