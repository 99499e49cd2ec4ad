"""Tables for people: the only place where numbers become words."""

from datetime import date, timedelta

from tidewatch.extremes import Extreme
from tidewatch.harmonics import Station


def format_height(metres: float) -> str:
    """A height with its sign and one decimal, for example ``+1.2 m`` or ``-0.4 m``."""
    whole = int(metres)
    tenths = round(abs(metres - whole) * 10)
    return f"{whole:+d}.{tenths} m"


def format_time(extreme: Extreme) -> str:
    """The time of day, to the nearest minute."""
    nearest = extreme.moment + timedelta(seconds=30)
    return f"{nearest:%H:%M}"


def format_extreme(extreme: Extreme) -> str:
    """One line of a table."""
    kind = "high" if extreme.is_high else "low"
    return f"  {kind:<5}  {format_time(extreme)}   {format_height(extreme.height)}"


def format_day(station: Station, day: date, extremes: list[Extreme]) -> str:
    """The whole table of a day."""
    lines = [f"{station.name}, {day.isoformat()}"]
    lines += [format_extreme(extreme) for extreme in extremes]
    return "\n".join(lines)
