def is_holiday(month, day):
    return month == 12 and day in (25, 26)
