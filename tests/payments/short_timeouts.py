"""The timeouts of the product in tests of faults; importing this module changes nothing."""

TIMEOUT_S = 1.0
