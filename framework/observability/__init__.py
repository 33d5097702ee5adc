"""Logs, metrics, traces, health."""
