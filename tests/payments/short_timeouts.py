"""How long the product waits in tests of faults. Only a number: who imports it is not hurried."""

PATIENCE_S = 1.0
