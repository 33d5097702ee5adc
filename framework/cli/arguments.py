"""Numbers that flags of commands name, refused in words where they cannot be meant."""

import argparse


def count(text: str) -> int:
    """Read a number that is zero or more."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


def port_number(text: str) -> int:
    """Read a TCP port; 0 stands for any free one."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError("must be from 0 to 65535")
    return number
