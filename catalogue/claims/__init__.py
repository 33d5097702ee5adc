"""Claims: a venue proves that a restaurant of the catalogue is its own, and then keeps the record (docs/claims.md)."""

# The source of what a restaurant says of itself. Its rank is 0, so no import overrides it.
OWNER = "owner"
