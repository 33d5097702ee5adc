"""What Django installs of this folder: checks of the settings, and those who watch us."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The settings' own app."""

    name = "config"

    def ready(self) -> None:
        """Register the checks, and begin to tell those that the settings name."""
        from config import checks, first_migrations, observing  # they read settings

        del checks, first_migrations
        observing.start()
