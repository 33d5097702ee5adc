-- The versions of generated restaurants: one of their creation, and one of each change in demo_change.
INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch, seq)
SELECT restaurant_id, version, at, 'import:demo', kind, patch, nextval('catalogue_version_feed')
FROM (
    SELECT r.id AS restaurant_id, 1 AS version, r.created_at AS at, 'created' AS kind, '{}'::jsonb AS patch
    FROM catalogue_sourcerecord AS record JOIN catalogue_restaurant AS r ON r.id = record.restaurant_id
    WHERE record.source_id = 'demo' AND record.record LIKE %s
    UNION ALL
    SELECT r.id, 2, r.updated_at, change.kind, change.patch
    FROM demo_change AS change JOIN catalogue_restaurant AS r ON r.id = change.restaurant_id
    ORDER BY at, restaurant_id, version OFFSET 0
) AS version
