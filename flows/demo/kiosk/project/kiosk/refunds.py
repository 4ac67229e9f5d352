def whole(price):
    return price
