"""History: versions of a restaurant, and the feed of all changes."""

from catalogue.history.change_feed import Change, ChangePage, list_changes
from catalogue.history.json_patch import Operation, changed_paths, to_json_patch
from catalogue.history.versions import VersionEntry, has_changes, list_newest_versions, list_versions
