"""The page on which guests order."""
