-- The order of versions in the feed of changes, assigned after their commit.
-- Used by catalogue/history/publish.py and catalogue/demo/load.py.
CREATE SEQUENCE IF NOT EXISTS catalogue_version_feed;
