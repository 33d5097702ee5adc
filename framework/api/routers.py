"""How the paths of both APIs are laid out."""

from rest_framework.routers import SimpleRouter


class OptionalSlashRouter(SimpleRouter):
    """Serves a path with and without its last slash, and redirects neither."""

    def __init__(self) -> None:
        super().__init__()
        # The constructor knows only "with" and "without".
        self.trailing_slash = "/?"
