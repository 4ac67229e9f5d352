"""Languages as their modules fulfil the Protocol: one suite for all, and a language of the tests."""
