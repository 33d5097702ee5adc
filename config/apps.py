"""What Django installs of this folder: checks of the settings, and those who watch us."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The settings' own app."""

    name = "config"

    def ready(self) -> None:
        """Register the checks, and begin to tell those that the settings name."""
        from config import checks  # they read settings
        from framework.db import squashed_migrations
        from framework.observability import telemetry

        del checks, squashed_migrations
        telemetry.start()
