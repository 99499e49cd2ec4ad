"""The command line: prints the tides of one day at one harbour."""

import argparse
from datetime import date, datetime, timezone

from tidewatch.extremes import find_extremes
from tidewatch.report import format_day
from tidewatch.stations import STATIONS, find_station


def main() -> None:
    """Print a table, or the harbours there are."""
    parser = argparse.ArgumentParser(prog="tidewatch", description="Tide tables.")
    parser.add_argument("station", nargs="?", help="a harbour; without one, all are listed")
    parser.add_argument("--day", type=date.fromisoformat, default=date.today())
    options = parser.parse_args()
    if options.station is None:
        for station in STATIONS:
            print(station.name)
        return
    station = find_station(options.station)
    start = datetime(options.day.year, options.day.month, options.day.day, tzinfo=timezone.utc)
    print(format_day(station, options.day, find_extremes(station, start)))


if __name__ == "__main__":
    main()
