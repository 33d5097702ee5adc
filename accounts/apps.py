"""The accounts app, and the admin site."""

from django.apps import AppConfig, apps

# Import the module: Django treats each AppConfig class in this namespace as a candidate.
from django.contrib.admin import apps as admin_apps

# Pages of allauth that would show the secrets of second factors. The user page replaces them.
UNREGISTERED_MODELS = ("account.EmailAddress", "mfa.Authenticator", "usersessions.UserSession")


class AccountsConfig(AppConfig):
    """Users, accounts, API keys and webhooks."""

    name = "accounts"
    default = True

    def ready(self) -> None:
        from accounts import consistency_checks
        from framework import consistency

        consistency.SOURCES.append(consistency_checks.checks)


class AdminSiteConfig(admin_apps.AdminConfig):
    """Django's admin with our site."""

    default = False
    default_site = "accounts.admin_site.TablewireAdminSite"

    def ready(self) -> None:
        super().ready()
        from django.contrib.admin import site  # available when the apps are loaded

        site.unregister([apps.get_model(name) for name in UNREGISTERED_MODELS])
