"""Tests of tables that are booked by the data API."""
