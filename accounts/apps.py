"""What Django installs of this app, and the admin site that is ours."""

from django.apps import AppConfig, apps

# The module, as Django takes each class of this one for a choice.
from django.contrib.admin import apps as admin_apps

# Allauth registers pages of its own, which show what second factors are made of. Ours are on the person's page.
NOT_OURS = ("account.EmailAddress", "mfa.Authenticator", "usersessions.UserSession")


class AccountsConfig(AppConfig):
    """Who calls, and what is theirs."""

    name = "accounts"
    default = True

    def ready(self) -> None:
        """Register consistency checks."""
        from accounts import consistency_checks
        from framework import consistency

        consistency.SOURCES.append(consistency_checks.checks)


class BackOfficeConfig(admin_apps.AdminConfig):
    """Django's admin, with our site in place of its own."""

    default = False
    default_site = "accounts.admin_site.BackOffice"

    def ready(self) -> None:
        """Find the pages of each app, and leave out those that are not ours."""
        super().ready()
        from django.contrib.admin import site  # known once apps are

        site.unregister([apps.get_model(name) for name in NOT_OURS])
