"""An estimate of what a model gained from seen answers: success before and after its cutoff."""
