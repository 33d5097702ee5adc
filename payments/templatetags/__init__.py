"""How the payments' pages write."""
