"""What Django installs of this folder: checks of the settings, and those who watch us."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The settings' own app."""

    name = "config"

    def ready(self) -> None:
        """Register the checks, and begin to tell those that the settings name."""
        from config import celery, checks  # both read settings; tasks of the apps bind to the Celery app
        from framework.db import squashed_migrations
        from framework.observability import telemetry

        del celery, checks, squashed_migrations
        telemetry.start()
