"""The till of a ferry."""

from pier.fares import luggage, price


class Till:
    """What the crew takes in on one day."""

    def __init__(self):
        self.taken = 0
        self.sold = 0

    def sell(self, zones, people=1):
        """Sell tickets, and say what they cost."""
        if people < 1:
            raise ValueError('there is nobody to carry')
        due = price(zones) * people
        self.taken += due
        self.sold += people
        return due

    def carry(self, kilos):
        """Take luggage on board, and say what it costs."""
        due = luggage(kilos)
        self.taken += due
        return due

    def refund(self, sum):
        """Give money back."""
        if sum > self.taken:
            raise ValueError('there is not so much in the till')
        self.taken -= sum

    def average(self):
        """What a passenger has paid; 0 while nobody has."""
        if not self.sold:
            return 0
        return self.taken / self.sold
