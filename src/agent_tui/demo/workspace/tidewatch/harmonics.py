"""The height of the water: a sum of cosines, one for each way the Moon and the Sun pull.

The method is Lord Kelvin's, of 1867. Every tide is the sum of *constituents*. The speed of each is
fixed by astronomy and the same everywhere on Earth; its amplitude and its phase belong to a place
and are found by watching the water there for a year. With those two numbers for each constituent
the tide can be told for years ahead, which Kelvin did with a machine of brass pulleys.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timezone

EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)
"""The moment from which all phases are counted."""

SPEEDS = {
    "M2": 28.9841042,
    "S2": 30.0000000,
    "N2": 28.4397295,
    "K2": 30.0821373,
    "K1": 15.0410686,
    "O1": 13.9430356,
    "M4": 57.9682084,
}
"""Degrees per hour of each constituent.

M2 is the Moon, twice a day. S2 is the Sun, twice a day: M2 and S2 together make springs and neaps.
N2 comes from the Moon's oval orbit, K2 from its tilt, K1 and O1 are the unequal halves of a day, and
M4 is what shallow water does to M2.
"""


@dataclass(frozen=True)
class Constituent:
    """One cosine of a place.

    name: a key of SPEEDS.
    amplitude: half of its range, in metres.
    phase: degrees by which it lags behind the epoch.
    """

    name: str
    amplitude: float
    phase: float

    def height_at(self, hours: float) -> float:
        """Its share of the height, in metres, so many hours after the epoch."""
        angle = SPEEDS[self.name] * hours - self.phase
        return self.amplitude * math.cos(math.radians(angle))

    def slope_at(self, hours: float) -> float:
        """How fast its share rises, in metres per hour."""
        speed = math.radians(SPEEDS[self.name])
        angle = SPEEDS[self.name] * hours - self.phase
        return -self.amplitude * speed * math.sin(math.radians(angle))


@dataclass(frozen=True)
class Station:
    """A harbour: its mean level above chart datum, in metres, and its constituents."""

    name: str
    mean_level: float
    constituents: tuple[Constituent, ...]


def hours_since_epoch(moment: datetime) -> float:
    """Hours from EPOCH to a moment, which must know its time zone."""
    return (moment - EPOCH).total_seconds() / 3600


def height_at(station: Station, moment: datetime) -> float:
    """Metres of water above chart datum; below zero when there is less than the chart says."""
    hours = hours_since_epoch(moment)
    return station.mean_level + sum(part.height_at(hours) for part in station.constituents)


def slope_at(station: Station, moment: datetime) -> float:
    """How fast the water rises, in metres per hour; below zero while it falls."""
    hours = hours_since_epoch(moment)
    return sum(part.slope_at(hours) for part in station.constituents)
