"""What Django installs of this folder: checks of the settings, and those who watch us."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import celery, checks  # both read settings; tasks of the apps bind to the Celery app
        from framework.observability import telemetry

        del celery, checks
        telemetry.set_up()
