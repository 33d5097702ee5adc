"""Tests of the authorization server."""
