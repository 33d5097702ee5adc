"""The dashboard's pages of the data service: wallets, tier, payments."""
