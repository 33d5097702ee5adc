"""Claims: a venue proves that a restaurant of the catalogue is its own, and then keeps the record (docs/claims.md)."""
