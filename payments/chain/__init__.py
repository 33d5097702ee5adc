"""Reading the EVM chain."""
