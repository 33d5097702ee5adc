"""The dashboard's pages of the catalogue: exports."""
