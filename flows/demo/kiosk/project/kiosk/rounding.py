def nearest(price):
    return int(price)


def show(price):
    return f'EUR {price}'
