"""Signing in to the dashboard, with django-allauth."""
