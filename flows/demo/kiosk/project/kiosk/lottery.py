def drawing():
    return False
