"""The back office of accounts: people, venues, keys, webhooks."""

from accounts.admin import api_keys, apps, users, venues, webhooks
