"""Alerts to members by mail and web push."""
