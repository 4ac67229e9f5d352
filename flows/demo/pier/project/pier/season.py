"""The seasons, by the day on which each begins in the north."""


def season(month, day):
    """The name of the season of a day."""
    if month in (1, 2):
        return 'winter'
    if month == 3:
        return 'winter' if day < 20 else 'spring'
    if month in (4, 5):
        return 'spring'
    if month == 6:
        return 'spring' if day < 21 else 'summer'
    if month in (7, 8):
        return 'summer'
    if month == 9:
        return 'summer' if day < 22 else 'autumn'
    if month in (10, 11):
        return 'autumn'
    if month == 12:
        return 'autumn' if day < 21 else 'winter'
    raise ValueError(f'there is no month {month}')
