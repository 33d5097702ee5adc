"""What Django installs of this app, and the admin site that is ours."""

from django.apps import AppConfig

# The module, as Django takes each class of this one for a choice.
from django.contrib.admin import apps as admin_apps


class AccountsConfig(AppConfig):
    """Who calls, and what is theirs."""

    name = "accounts"
    default = True


class BackOfficeConfig(admin_apps.AdminConfig):
    """Django's admin, with our site in place of its own."""

    default = False
    default_site = "accounts.back_office.BackOffice"
