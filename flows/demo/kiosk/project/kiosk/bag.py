def fits(width, height):
    return width <= 40 and height <= 30


def allowance(adults):
    return 20 * adults
