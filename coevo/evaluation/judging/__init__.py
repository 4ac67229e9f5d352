"""The verdict on one prediction: the patch, the start state, what its targets do."""
