import unittest

from kiosk.distance import miles


class DistanceTest(unittest.TestCase):
    def test_measures_one_leg(self):
        self.assertEqual(miles('A', 'B'), 24)

    def test_measures_a_long_way(self):
        self.assertGreater(miles('A', 'D'), 100)

    def test_goes_both_ways(self):
        self.assertEqual(miles('B', 'A'), miles('A', 'B'))
