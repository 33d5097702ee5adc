"""How people sign up and in, where django-allauth asks us."""

from allauth.account.adapter import DefaultAccountAdapter


class Entrance(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Our answers to its questions."""
