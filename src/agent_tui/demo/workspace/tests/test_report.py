"""What people read."""

import unittest

from tidewatch.report import format_height


class FormatHeightTest(unittest.TestCase):
    def test_a_height_has_a_sign_and_one_decimal(self):
        self.assertEqual(format_height(4.62), "+4.6 m")

    def test_a_deep_low_water_is_below_zero(self):
        self.assertEqual(format_height(-1.3), "-1.3 m")

    def test_just_below_chart_datum_keeps_its_sign(self):
        self.assertEqual(format_height(-0.4), "-0.4 m")

    def test_nearly_two_metres_are_two_metres(self):
        self.assertEqual(format_height(1.96), "+2.0 m")


if __name__ == "__main__":
    unittest.main()
