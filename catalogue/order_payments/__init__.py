"""Orders of the ordering page that guests pay in USDC."""
