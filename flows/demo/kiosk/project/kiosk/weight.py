def kilograms(grams):
    return grams / 1000
