def fee(hours):
    return 2 * hours
