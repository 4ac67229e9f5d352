def total(papers, price):
    """Price in whole euros."""
    return papers * price
