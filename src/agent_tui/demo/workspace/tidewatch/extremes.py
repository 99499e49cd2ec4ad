"""High and low water: the moments when the water stops rising or falling."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidewatch.harmonics import Station, height_at, slope_at

STEP = timedelta(minutes=20)
"""How finely a day is searched. No tide turns twice in twenty minutes."""

PRECISION = timedelta(seconds=30)
"""How exactly a turn is found."""


@dataclass(frozen=True)
class Extreme:
    """One turn of the tide."""

    moment: datetime
    height: float
    is_high: bool


def find_extremes(station: Station, start: datetime, hours: float = 24) -> list[Extreme]:
    """Every high and low water in the hours after a moment, in order."""
    end = start + timedelta(hours=hours)
    found = []
    before = start
    while before < end:
        after = before + STEP
        rising, still_rising = slope_at(station, before) > 0, slope_at(station, after) > 0
        if rising != still_rising:
            turn = _find_turn(station, before, after)
            if turn < end:
                found.append(Extreme(turn, height_at(station, turn), is_high=rising))
        before = after
    return found


def _find_turn(station: Station, before: datetime, after: datetime) -> datetime:
    """Halve the interval until the turn is known: it lies where the slope changes its sign."""
    rising = slope_at(station, before) > 0
    while after - before > PRECISION:
        middle = before + (after - before) / 2
        if (slope_at(station, middle) > 0) == rising:
            before = middle
        else:
            after = middle
    return before + (after - before) / 2
