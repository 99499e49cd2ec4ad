"""The harbours we know. All of them are invented."""

from tidewatch.harmonics import Constituent, Station


def _station(name: str, mean_level: float, **constants: tuple[float, float]) -> Station:
    parts = (Constituent(key, amplitude, phase) for key, (amplitude, phase) in constants.items())
    return Station(name, mean_level, tuple(parts))


STATIONS = (
    _station(
        "Port Carrick",
        2.35,
        M2=(1.72, 148.0),
        S2=(0.58, 192.0),
        N2=(0.33, 129.0),
        K1=(0.07, 81.0),
        O1=(0.06, 332.0),
        M4=(0.11, 210.0),
    ),
    _station(
        "Saint-Aubin",
        5.90,
        M2=(3.66, 178.0),
        S2=(1.43, 231.0),
        N2=(0.70, 160.0),
        K1=(0.10, 92.0),
        O1=(0.08, 351.0),
        M4=(0.27, 118.0),
    ),
    _station(
        "Lerwick Sound",
        1.25,
        M2=(0.59, 312.0),
        S2=(0.22, 347.0),
        N2=(0.12, 289.0),
        K1=(0.08, 160.0),
        O1=(0.08, 31.0),
        M4=(0.02, 240.0),
    ),
    _station(
        "Grey Bar",
        0.95,
        M2=(1.12, 22.0),
        S2=(0.41, 64.0),
        N2=(0.20, 5.0),
        K1=(0.11, 140.0),
        O1=(0.09, 12.0),
        M4=(0.16, 301.0),
    ),
)


def find_station(name: str) -> Station:
    """The harbour of that name; upper and lower case are the same.

    Raises KeyError with the names that there are.
    """
    for station in STATIONS:
        if station.name.lower() == name.lower():
            return station
    known = ", ".join(station.name for station in STATIONS)
    raise KeyError(f"no harbour {name!r}; there are {known}")
