"""The back office of accounts: people, venues, keys, webhooks."""

from accounts.admin import keys, people, venues, webhooks

__all__ = ["keys", "people", "venues", "webhooks"]
