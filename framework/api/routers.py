"""The router of both APIs."""

from rest_framework.routers import SimpleRouter


class OptionalSlashRouter(SimpleRouter):
    """Serves a path with and without a trailing slash, without a redirect."""

    def __init__(self) -> None:
        super().__init__()
        # The constructor only supports True and False.
        self.trailing_slash = "/?"
