"""The accounts app, and the admin site."""

import django_stubs_ext
from django.apps import AppConfig

# Import the module: Django treats each AppConfig class in this namespace as a candidate.
from django.contrib.admin import apps as admin_apps

# Lets all apps name the type arguments of Django's generic classes (ModelAdmin[Order]): this one is loaded first.
django_stubs_ext.monkeypatch()


class AccountsConfig(AppConfig):
    """Users, accounts, API keys and webhooks."""

    name = "accounts"
    default = True

    def ready(self) -> None:
        from accounts import consistency_checks
        from framework import consistency

        consistency.SOURCES.append(consistency_checks.checks)


class AdminSiteConfig(admin_apps.SimpleAdminConfig):
    """Django's admin with our site, which loads the apps' admin modules when its URLs are needed."""

    default = False
    default_site = "accounts.admin_site.TablewireAdminSite"
