"""Page numbers and signed keyset cursors."""
