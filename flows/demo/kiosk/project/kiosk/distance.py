PIERS = 'ABCD'


def miles(start, end):
    return 25 * abs(PIERS.index(start) - PIERS.index(end))
