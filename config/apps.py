"""The app of this folder: checks of the settings, the Celery app, and telemetry."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import celery, checks  # both read settings; tasks of the apps bind to the Celery app
        from framework.observability import telemetry

        del celery, checks
        telemetry.set_up()
