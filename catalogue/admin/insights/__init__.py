"""Insights and model calls."""
