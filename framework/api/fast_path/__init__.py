"""The short way of API requests past Django's page middleware."""
