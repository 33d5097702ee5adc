"""What changed: the versions of a restaurant, and the feed of all changes."""

from catalogue.history.change_feed import Change, Feed, changes
from catalogue.history.json_patch import Operation, operations, paths
from catalogue.history.versions import Entry, has_changes, newest, page

__all__ = ["Change", "Entry", "Feed", "Operation", "changes", "has_changes", "newest", "operations", "page", "paths"]
