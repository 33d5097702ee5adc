"""The orders app; it registers in the registries of the layers below."""

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        from accounts import data_export, onboarding_steps, sandbox_clock
        from accounts.dashboard import search as dashboard_search
        from accounts.demo import commands as demo
        from framework import consistency
        from orders import consistency_checks, sandbox_work
        from orders.dashboard import search
        from orders.dashboard.menu import MENU_STEP
        from orders.data_export import list_menus, list_orders
        from orders.demo import part

        consistency.SOURCES.append(consistency_checks.checks)
        data_export.FILES.update(orders=list_orders, menus=list_menus)
        onboarding_steps.STEPS.append(MENU_STEP)
        dashboard_search.SOURCES.extend(search.SOURCES)
        demo.PARTS.append(part.PART)
        sandbox_clock.WORK.extend(sandbox_work.WORK)
