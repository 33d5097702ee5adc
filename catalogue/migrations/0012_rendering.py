"""What follows from a restaurant follows by triggers: its version, its former slugs, its Record and its SearchRow."""

from django.db import migrations

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# What a version does not speak of: the version itself, what staff alone see or the database makes, and the figures of
# reviews behind their number and the rating.
UNVERSIONED = "'{version,updated_at,locked_fields,position,star_counts,review_facets}'::text[]"

# config.api.ids.encode: 130 bits, five to a letter.
LETTERS = " || ".join(
    f"substr('{ALPHABET}', substring(bits.of_id, {place}, 5)::integer + 1, 1)" for place in range(1, 131, 5)
)
PUBLIC_ID = f"""
CREATE FUNCTION public_id(prefix text, id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT prefix || '_' || {LETTERS}
    FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS of_id) AS bits
)
"""  # noqa: S608  # of constants

MOMENT = """
CREATE FUNCTION api_moment(at timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
"""

# `"a":1,"b":2` of `{"a":1,"b":2}`, so that more can be put beside it.
MEMBERS = """
CREATE FUNCTION json_members(object json) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(object::text, 2, length(object::text) - 2)
"""

# Takes the row itself, so that it renders what a restaurant once was too.
RECORD = """
CREATE FUNCTION restaurant_record(r catalogue_restaurant)
RETURNS TABLE (timezone text, hours_known boolean, before text, hours text, after text, sources varchar[])
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT
    market.timezone,
    coalesce((stated.hours ->> 'known')::boolean, false),
    public.json_members(row_to_json(before)),
    public.json_members(row_to_json(opening)),
    public.json_members(row_to_json(after)),
    said.keys
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN jsonb_typeof(r.hours -> 'periods') = 'array'
        AND jsonb_typeof(r.hours -> 'special_days') = 'array' THEN r.hours END AS hours
) AS stated
CROSS JOIN LATERAL (
    SELECT
        concat_ws(' ', nullif(r.postal_code, ''), nullif(r.locality, '')) AS town,
        nullif(r.line1, '') AS line1,
        nullif(r.region, '') AS region
) AS place
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(DISTINCT record.source_id ORDER BY record.source_id), '{}') AS keys,
        coalesce(json_agg(json_build_object(
            'source', record.source_id, 'record', record.record, 'license', source.license,
            'updated_at', public.api_moment(record.updated_at), 'fields', record.fields
        ) ORDER BY record.source_id, record.record), '[]') AS records
    FROM catalogue_sourcerecord AS record
    JOIN catalogue_source AS source ON source.key = record.source_id
    WHERE record.restaurant_id = r.id
) AS said
CROSS JOIN LATERAL (
    SELECT
        r.slug, r.name, public.public_id('rst', r.id) AS id, r.alt_names, r.status, r.market_id AS market,
        r.neighborhood,
        json_build_object(
            'line1', r.line1, 'locality', r.locality, 'region', r.region, 'postal_code', r.postal_code,
            'country', r.country,
            'formatted', CASE WHEN concat(place.line1, place.town, place.region) <> ''
                THEN concat_ws(', ', place.line1, nullif(place.town, ''), place.region, r.country) END
        ) AS address,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location,
        r.phone, r.phone_verified_at IS NOT NULL AS phone_verified,
        public.api_moment(r.phone_verified_at) AS phone_verified_at, r.website, r.rating, r.review_count,
        r.price_level, cuisine.label AS cuisine, r.cuisines
) AS before
CROSS JOIN LATERAL (
    SELECT
        coalesce(stated.hours ->> 'timezone', market.timezone) AS timezone,
        coalesce(stated.hours -> 'periods', '[]') AS periods,
        coalesce(stated.hours -> 'special_days', '[]') AS special_days,
        coalesce(stated.hours -> 'display', '[]') AS display,
        stated.hours ->> 'osm' AS osm
) AS opening
CROSS JOIN LATERAL (
    SELECT
        r.attributes, r.external_ids, said.records AS sources,
        (
            SELECT coalesce(json_agg(json_build_object(
                'source', source.key, 'text', source.attribution, 'license', source.license
            ) ORDER BY source.key), '[]')
            FROM catalogue_source AS source WHERE source.key = ANY (said.keys)
        ) AS attribution,
        public.api_moment(r.verified_at) AS verified_at, public.api_moment(r.updated_at) AS updated_at, r.version
) AS after
WHERE market.slug = r.market_id
$$
"""

# Words of the dishes that the insight names are found too, after the words of the name, the cuisine and the place.
ROW = """
CREATE FUNCTION restaurant_search_row(r catalogue_restaurant)
RETURNS TABLE (timezone text, is_shut boolean, stars integer, tags varchar[], neighborhood text, name text, line1 text,
    document tsvector, sources varchar[], card text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT
    market.timezone,
    r.status = 'temporarily_closed',
    (coalesce(r.rating, 0) * 10)::integer,
    ARRAY(
        SELECT key::varchar FROM jsonb_each(r.attributes) WHERE value NOT IN ('false', '"no"', 'null', '""') ORDER BY key
    ),
    public.fold(r.neighborhood),
    left(public.fold(r.name), 200),
    left(public.fold(r.line1), 200),
    public.restaurant_document(r.name, r.alt_names, r.cuisines, r.neighborhood) || setweight(to_tsvector(
        'pg_catalog.simple', public.fold(coalesce((
            SELECT string_agg(dish ->> 'name', ' ')
            FROM catalogue_insight AS insight, jsonb_path_query(insight.detail, '$.dishes[*]') AS dish
            WHERE insight.restaurant_id = r.id AND NOT insight.hidden
        ), ''))
    ), 'D'),
    ARRAY(
        SELECT DISTINCT record.source_id FROM catalogue_sourcerecord AS record
        WHERE record.restaurant_id = r.id ORDER BY record.source_id
    ),
    public.json_members(row_to_json(card))
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT r.slug, r.name, r.neighborhood, r.market_id AS market, r.rating, r.review_count, r.price_level,
        cuisine.label AS cuisine, r.cuisines, r.phone,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location
) AS card
WHERE market.slug = r.market_id
$$
"""

IS_LISTED = "r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL"

# In the order of their keys, so that two writers wait for each other and cannot deadlock.
RENDER = f"""
CREATE FUNCTION render_restaurants(ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM catalogue_record WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    INSERT INTO catalogue_record AS held (restaurant_id, slug, status, timezone, hours_known, before, hours, after, sources)
    SELECT r.id, r.slug, r.status, made.timezone, made.hours_known, made.before, made.hours, made.after, made.sources
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_record(r) AS made
    WHERE r.id = ANY (ids) AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET slug = excluded.slug, status = excluded.status,
        timezone = excluded.timezone, hours_known = excluded.hours_known, before = excluded.before,
        hours = excluded.hours, after = excluded.after, sources = excluded.sources;

    DELETE FROM catalogue_kitchen USING unnest(ids) AS changed (id)
    WHERE restaurant_id = changed.id AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r WHERE r.id = restaurant_id AND {IS_LISTED} AND cuisine = ANY (r.cuisines)
    );
    DELETE FROM catalogue_searchrow WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r WHERE r.id = restaurant_id AND {IS_LISTED}
    );
    INSERT INTO catalogue_searchrow AS held (restaurant_id, market, position, latitude, longitude, timezone, is_shut,
        cuisines, price_level, rating, review_count, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at,
        tags, neighborhood, name, line1, document, sources, card)
    SELECT r.id, r.market_id, r.position, r.latitude, r.longitude, made.timezone, made.is_shut, r.cuisines,
        r.price_level, r.rating, r.review_count, made.stars, r.review_count, made.stars, r.review_count, 'epoch',
        made.tags, made.neighborhood, made.name, made.line1, made.document, made.sources, made.card
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_search_row(r) AS made
    WHERE r.id = ANY (ids) AND {IS_LISTED}
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET market = excluded.market, position = excluded.position,
        latitude = excluded.latitude, longitude = excluded.longitude, timezone = excluded.timezone,
        is_shut = excluded.is_shut, cuisines = excluded.cuisines, price_level = excluded.price_level,
        rating = excluded.rating, review_count = excluded.review_count, tags = excluded.tags,
        neighborhood = excluded.neighborhood, name = excluded.name, line1 = excluded.line1,
        document = excluded.document, sources = excluded.sources, card = excluded.card;
    PERFORM rank_restaurants(ids, clock_timestamp());
    INSERT INTO catalogue_kitchen AS held (restaurant_id, cuisine, position, price_level, rating)
    SELECT r.id, kind.cuisine, r.position, r.price_level, r.rating
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.cuisines) AS cuisine) AS kind
    WHERE r.id = ANY (ids) AND {IS_LISTED}
    ORDER BY r.id, kind.cuisine
    ON CONFLICT (restaurant_id, cuisine) DO UPDATE SET position = excluded.position,
        price_level = excluded.price_level, rating = excluded.rating
    WHERE (held.position IS NOT NULL, held.position[0], held.position[1], held.price_level, held.rating)
        IS DISTINCT FROM (excluded.position IS NOT NULL, excluded.position[0], excluded.position[1],
            excluded.price_level, excluded.rating);
END
$$
"""  # noqa: S608  # of constants

# A rank follows at most once an hour, the life of a cursor; who comes too early is moved by the next beat.
RANK = """
CREATE FUNCTION rank_restaurants(ids uuid[], at timestamptz) RETURNS void
LANGUAGE sql
AS $$
UPDATE catalogue_searchrow AS held
SET former_stars = held.rank_stars, former_reviews = held.rank_reviews, ranked_at = at,
    rank_stars = (coalesce(held.rating, 0) * 10)::integer, rank_reviews = held.review_count
WHERE (ids IS NULL OR held.restaurant_id = ANY (ids)) AND held.ranked_at < at - interval '1 hour'
    AND (held.rank_stars, held.rank_reviews)
        IS DISTINCT FROM ((coalesce(held.rating, 0) * 10)::integer, held.review_count)
$$
"""

# Who began earlier may write later: the moments of a history never go back.
COUNT = f"""
CREATE FUNCTION count_restaurant_version() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF to_jsonb(new) - {UNVERSIONED} = to_jsonb(old) - {UNVERSIONED} THEN
        new.version := old.version;
        new.updated_at := old.updated_at;
    ELSE
        new.version := old.version + 1;
        IF new.updated_at = old.updated_at THEN
            new.updated_at := statement_timestamp();
        END IF;
        new.updated_at := greatest(old.updated_at, new.updated_at);
    END IF;
    RETURN new;
END
$$
"""

# Where somebody was once found nobody else is, so that an old link never leads to a stranger.
REFUSE = """
CREATE FUNCTION refuse_former_slugs(wanted varchar[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM catalogue_formerslug WHERE slug = ANY (wanted)) THEN
        RAISE unique_violation USING MESSAGE = 'The slug still leads to another restaurant.',
            CONSTRAINT = 'a_former_slug_stays_with_its_restaurant';
    END IF;
END
$$
"""

ADDED = """
CREATE FUNCTION restaurants_added() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM refuse_former_slugs(ARRAY(SELECT slug FROM added));
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT id, version, created_at, coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        'created', '{}'
    FROM added ORDER BY id;
    PERFORM render_restaurants(ARRAY(SELECT id FROM added));
    RETURN NULL;
END
$$
"""

CHANGED = f"""
CREATE FUNCTION restaurants_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[] := ARRAY(
        SELECT now.id FROM was JOIN became AS now ON now.id = was.id WHERE now.version <> was.version
    );
BEGIN
    IF cardinality(changed) = 0 THEN
        RETURN NULL;
    END IF;
    DELETE FROM catalogue_formerslug AS former USING became AS now
    WHERE former.slug = now.slug AND former.restaurant_id = now.id;
    PERFORM refuse_former_slugs(ARRAY(
        SELECT now.slug FROM was JOIN became AS now ON now.id = was.id WHERE now.slug <> was.slug
    ));
    INSERT INTO catalogue_formerslug (slug, restaurant_id, until)
    SELECT was.slug, was.id, now.updated_at
    FROM was JOIN became AS now ON now.id = was.id WHERE now.slug <> was.slug;
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT now.id, now.version, now.updated_at,
        coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        CASE
            WHEN now.erased_at IS NOT NULL AND was.erased_at IS NULL THEN 'erased'
            WHEN now.merged_into_id IS NOT NULL AND was.merged_into_id IS NULL THEN 'merged'
            WHEN now.status IN ('permanently_closed', 'moved')
                AND was.status NOT IN ('permanently_closed', 'moved') THEN 'closed'
            WHEN was.status IN ('permanently_closed', 'moved')
                AND now.status NOT IN ('permanently_closed', 'moved') THEN 'reopened'
            WHEN now.slug <> was.slug OR now.name <> was.name THEN 'renamed'
            ELSE 'updated'
        END,
        (
            SELECT jsonb_object_agg(key, jsonb_build_array(before.value, after.value))
            FROM jsonb_each(to_jsonb(was) - {UNVERSIONED}) AS before
            JOIN jsonb_each(to_jsonb(now) - {UNVERSIONED}) AS after USING (key)
            WHERE before.value <> after.value
        )
    FROM was JOIN became AS now ON now.id = was.id
    WHERE now.version <> was.version
    ORDER BY now.id;
    UPDATE catalogue_searchrow AS row SET spans_until = NULL
    FROM was JOIN became AS now ON now.id = was.id
    WHERE row.restaurant_id = now.id AND row.spans_until IS NOT NULL
        AND (was.hours, was.status, was.latitude, was.longitude, was.market_id)
            IS DISTINCT FROM (now.hours, now.status, now.latitude, now.longitude, now.market_id);
    PERFORM render_restaurants(changed);
    RETURN NULL;
END
$$
"""  # noqa: S608  # of constants

# Whatever a restaurant is rendered from beside itself.
TOLD = """
CREATE FUNCTION restaurants_told_of() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM render_restaurants(ARRAY(SELECT DISTINCT restaurant_id FROM told));
    RETURN NULL;
END
$$
"""

TRIGGERS = """
CREATE TRIGGER restaurant_version BEFORE UPDATE ON catalogue_restaurant
    FOR EACH ROW EXECUTE FUNCTION count_restaurant_version();
CREATE TRIGGER restaurants_added AFTER INSERT ON catalogue_restaurant
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION restaurants_added();
CREATE TRIGGER restaurants_changed AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION restaurants_changed();
CREATE TRIGGER records_added AFTER INSERT ON catalogue_sourcerecord
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
CREATE TRIGGER records_changed AFTER UPDATE ON catalogue_sourcerecord
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
CREATE TRIGGER records_left AFTER UPDATE ON catalogue_sourcerecord
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
CREATE TRIGGER records_removed AFTER DELETE ON catalogue_sourcerecord
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
CREATE TRIGGER insights_added AFTER INSERT ON catalogue_insight
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
CREATE TRIGGER insights_changed AFTER UPDATE ON catalogue_insight
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION restaurants_told_of();
"""

SEQUENCE = "CREATE SEQUENCE catalogue_version_feed"

# Reviews that are there already, in figures, before triggers would look at each row. What says another number of reviews
# than there are is left to the nightly count, for that is a change of the restaurant.
FACETS = """
UPDATE catalogue_restaurant AS restaurant
SET review_facets = jsonb_build_object('by_lang', said.by_lang, 'with_photos', 0, 'with_reply', said.with_reply)
FROM (
    SELECT
        restaurant_id, sum(reviews) AS reviews, sum(with_reply) AS with_reply,
        coalesce(jsonb_object_agg(lang, reviews) FILTER (WHERE lang <> ''), '{}') AS by_lang
    FROM (
        SELECT restaurant_id, lang, count(*) AS reviews, count(owner_replied_at) AS with_reply
        FROM catalogue_review GROUP BY restaurant_id, lang
    ) AS counted
    GROUP BY restaurant_id
) AS said
WHERE said.restaurant_id = restaurant.id AND said.reviews = restaurant.review_count
"""

# Restaurants that are there already: their present version is the first that is remembered.
FILL = """
INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch, seq)
SELECT id, version, CASE WHEN version = 1 THEN created_at ELSE updated_at END, 'system',
    CASE WHEN version = 1 THEN 'created' ELSE 'updated' END, '{}', nextval('catalogue_version_feed')
FROM (SELECT * FROM catalogue_restaurant ORDER BY id) AS there;
SELECT render_restaurants(ARRAY(
    SELECT r.id FROM catalogue_restaurant r
    ORDER BY market_id, floor(position[0] / 500), floor(position[1] / 500)
));
"""  # of constants


def forget(*functions: str) -> str:
    """Drop these functions, with the triggers that call them."""
    return "; ".join(f"DROP FUNCTION IF EXISTS {function} CASCADE" for function in functions)


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0011_the_catalogue_whole")]
    operations = [
        migrations.RunSQL(PUBLIC_ID, forget("public_id")),
        migrations.RunSQL(MOMENT, forget("api_moment")),
        migrations.RunSQL(MEMBERS, forget("json_members")),
        migrations.RunSQL(RECORD, forget("restaurant_record")),
        migrations.RunSQL(ROW, forget("restaurant_search_row")),
        migrations.RunSQL(RANK, forget("rank_restaurants")),
        migrations.RunSQL(RENDER, forget("render_restaurants")),
        migrations.RunSQL(COUNT, forget("count_restaurant_version")),
        migrations.RunSQL(REFUSE, forget("refuse_former_slugs")),
        migrations.RunSQL(ADDED, forget("restaurants_added")),
        migrations.RunSQL(CHANGED, forget("restaurants_changed")),
        migrations.RunSQL(TOLD, forget("restaurants_told_of")),
        migrations.RunSQL(FACETS, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, migrations.RunSQL.noop),
        migrations.RunSQL(SEQUENCE, "DROP SEQUENCE catalogue_version_feed"),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
