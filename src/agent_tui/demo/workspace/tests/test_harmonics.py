"""The height of the water."""

import unittest
from datetime import timedelta

from tidewatch.harmonics import EPOCH, Constituent, Station, height_at, slope_at

MOON_ONLY = Station("Moon only", 3.0, (Constituent("M2", 2.0, 0.0),))


class HarmonicsTest(unittest.TestCase):
    def test_a_constituent_without_phase_is_highest_at_the_epoch(self):
        self.assertAlmostEqual(height_at(MOON_ONLY, EPOCH), 5.0)

    def test_the_moon_comes_back_after_twelve_hours_and_twenty_five_minutes(self):
        later = EPOCH + timedelta(hours=360 / 28.9841042)
        self.assertAlmostEqual(height_at(MOON_ONLY, later), 5.0, places=4)

    def test_the_slope_is_how_the_height_changes(self):
        moment, second = EPOCH + timedelta(hours=2), timedelta(seconds=1)
        change = height_at(MOON_ONLY, moment + second) - height_at(MOON_ONLY, moment)
        self.assertAlmostEqual(slope_at(MOON_ONLY, moment), change * 3600, places=3)


if __name__ == "__main__":
    unittest.main()
