"""Serializers of the catalogue's REST API."""
