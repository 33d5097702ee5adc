"""Argument types of management commands."""

import argparse


def count(text: str) -> int:
    """A number from 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


def port_number(text: str) -> int:
    """A TCP port; 0 means any free one."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError("must be from 0 to 65535")
    return number
