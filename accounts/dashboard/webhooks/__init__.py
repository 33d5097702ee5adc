"""Webhook endpoints and their deliveries on the dashboard."""
