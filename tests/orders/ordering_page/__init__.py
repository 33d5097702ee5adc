"""Tests of the page on which guests order."""
