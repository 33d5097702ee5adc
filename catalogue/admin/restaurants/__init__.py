"""Restaurants: form, actions, versions, map."""
