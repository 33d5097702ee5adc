"""The back office of accounts: people, venues, keys, webhooks."""

from django.contrib import admin

from accounts.admin import keys, people, venues, webhooks

__all__ = ["keys", "people", "venues", "webhooks"]

admin.site.site_header = "Tablewire"
admin.site.site_title = "Tablewire"
admin.site.index_title = "Back office"
