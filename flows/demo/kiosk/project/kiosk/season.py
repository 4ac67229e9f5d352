def current():
    return 'summer'


def concerts():
    return ['lakeside']


def markets():
    return []


def ferry():
    return None
