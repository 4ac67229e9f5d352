def count(adults, children):
    return adults + children
