"""The app of this folder: checks of the settings, the Celery app, telemetry, and what joins the apps."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import celery, checks, guest_pages  # both read settings; tasks of the apps bind to the Celery app
        from framework.observability import telemetry

        del celery, checks
        guest_pages.register()
        telemetry.set_up()
