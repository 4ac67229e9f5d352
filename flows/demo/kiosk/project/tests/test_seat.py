from kiosk import seat


class TestSeat:
    def test_labels_the_first_row(self):
        assert seat.label(1, 'A') == '1A'

    def test_labels_high_rows(self):
        assert seat.label(30, 'F') == '30F'

    def test_the_first_column_is_at_the_window(self):
        assert seat.at_the_window('A')
