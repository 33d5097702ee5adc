"""From rules to slots."""

from datetime import datetime


def lay_out(*, now: datetime) -> int:
    """To be written by F."""
    raise NotImplementedError


def release(*, now: datetime) -> int:
    """To be written by F."""
    raise NotImplementedError
