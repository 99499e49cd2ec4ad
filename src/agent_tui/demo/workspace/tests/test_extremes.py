"""High and low water."""

import unittest

from tidewatch.extremes import find_extremes
from tidewatch.harmonics import EPOCH
from tidewatch.stations import STATIONS


class ExtremesTest(unittest.TestCase):
    def test_high_and_low_water_take_turns(self):
        for station in STATIONS:
            kinds = [extreme.is_high for extreme in find_extremes(station, EPOCH, hours=240)]
            self.assertTrue(all(a != b for a, b in zip(kinds, kinds[1:])), station.name)

    def test_high_water_is_higher_than_the_low_waters_around_it(self):
        for station in STATIONS:
            found = find_extremes(station, EPOCH, hours=240)
            for one, other in zip(found, found[1:]):
                high, low = (one, other) if one.is_high else (other, one)
                self.assertGreater(high.height, low.height)

    def test_a_day_has_three_to_five_turns(self):
        for station in STATIONS:
            self.assertIn(len(find_extremes(station, EPOCH)), range(3, 6))


if __name__ == "__main__":
    unittest.main()
