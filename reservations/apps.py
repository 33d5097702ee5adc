"""The reservations app, and what it adds to the registries of the layers below."""

from django.apps import AppConfig


class ReservationsConfig(AppConfig):
    name = "reservations"

    def ready(self) -> None:
        from accounts import data_export, onboarding_steps, sandbox_clock
        from accounts.dashboard import search as dashboard_search
        from accounts.demo import commands as demo
        from framework import consistency
        from reservations import consistency_checks, sandbox_work
        from reservations.dashboard import search
        from reservations.dashboard.setup.views import HOURS_STEP, TABLES_STEP
        from reservations.data_export import reservations_of
        from reservations.demo import part

        consistency.SOURCES.append(consistency_checks.checks)
        data_export.FILES.update(reservations=reservations_of)
        onboarding_steps.STEPS.extend((TABLES_STEP, HOURS_STEP))
        dashboard_search.SOURCES.extend(search.SOURCES)
        demo.PARTS.append(part.PART)
        sandbox_clock.WORK.extend(sandbox_work.WORK)
