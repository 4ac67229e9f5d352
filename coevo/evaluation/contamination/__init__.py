"""What a model may have gained by having seen answers: success before its cutoff beside success after it."""
