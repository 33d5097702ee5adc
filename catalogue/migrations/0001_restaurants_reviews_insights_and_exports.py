"""Restaurants and what is searched, sold and exported of them: places, reviews, insights, offers, imports, exports."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
from django.conf import settings
from django.contrib.postgres.operations import CreateExtension, TrigramExtension, UnaccentExtension
from django.db import migrations, models

import catalogue.models.postgres_fields
import catalogue.models.restaurants
import framework.public_ids
import framework.timezones
from framework.db.squashed_migrations import make_references

# Spherical Web Mercator (EPSG:3857) has this radius; catalogue.search.geocoding.distance states the same number for Python.
MERCATOR = """
CREATE FUNCTION mercator(latitude double precision, longitude double precision) RETURNS point
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN point(6378137 * radians(longitude), 6378137 * ln(tan(pi() / 4 + radians(latitude) / 2)))
"""

# People write "kings cross": apostrophes go, the curly ones after unaccent() has made them straight.
# unaccent() is only STABLE, as its dictionary might be edited; an index needs the promise that it is not.
FOLD = """
CREATE FUNCTION fold(words text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT replace(lower(public.unaccent('public.unaccent', words)), '''', '') $$
"""

DOCUMENT = """
CREATE FUNCTION restaurant_document(name text, alt_names text[], cuisines text[], neighborhood text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT setweight(to_tsvector('pg_catalog.simple', public.fold(name || ' ' || array_to_string(alt_names, ' '))), 'A')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(array_to_string(cuisines, ' '))), 'B')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(coalesce(neighborhood, ''))), 'C')
$$
"""

# What a version does not speak of: the version itself, what staff alone see or the database makes, and the figures of
# reviews behind their number and the rating.
UNVERSIONED = "'{version,updated_at,locked_fields,position,star_counts,review_facets}'::text[]"

# The public id of a key (framework.public_ids.encode), five bits to a letter, in a microsecond: an export makes fifteen million.
ALPHABET = b"0123456789abcdefghjkmnpqrstvwxyz"
LETTERS = 26
TABLE = "'\\x" + ALPHABET.hex() + "'::bytea"


def five_bits(place: int) -> str:
    """The bits that the letter at this place stands for, of 130 of which the first two are 0 (framework.public_ids)."""
    first = place * 5 - 2
    if first < 0:
        return "get_byte(uuid_send(id), 0) >> 5"
    byte, bit = divmod(first, 8)
    here = f"get_byte(uuid_send(id), {byte})"
    if bit <= 3:
        return f"({here} >> {3 - bit}) & 31"
    return f"(({here} << {bit - 3}) | (get_byte(uuid_send(id), {byte + 1}) >> {11 - bit})) & 31"


# Only what is immutable, so that the planner puts it in place of the call; convert_from is not.
made = "'\\x" + "00" * LETTERS + "'::bytea"
for place in range(LETTERS):
    made = f"set_byte({made}, {place}, get_byte({TABLE}, {five_bits(place)}))"
PUBLIC_ID = f"""
CREATE FUNCTION public_id(prefix text, id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN prefix || '_' || encode({made}, 'escape')
"""

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

# A rank follows at most once an hour, the life of a cursor; who comes too early is moved by the next beat. It moves five
# minutes after it was decided, so that no walk sees the moment of its commit: whoever decides commits later, maybe after
# a search has begun that still saw the old rank. A moment that lies ahead tells every page of that search the same, as
# long as transactions end within five minutes. Rows that somebody else is writing are passed over, for he may be waiting
# for one of ours: the next beat moves them.
RANK = """
CREATE FUNCTION rank_restaurants(ids uuid[], at timestamptz) RETURNS void
LANGUAGE sql
AS $$
UPDATE catalogue_searchrow AS held
SET former_stars = held.rank_stars, former_reviews = held.rank_reviews, ranked_at = at + interval '5 minutes',
    rank_stars = (coalesce(held.rating, 0) * 10)::integer, rank_reviews = held.review_count
FROM (
    SELECT r.restaurant_id FROM catalogue_searchrow AS r
    WHERE (ids IS NULL OR r.restaurant_id = ANY (ids)) AND r.ranked_at < at - interval '1 hour'
        AND (r.rank_stars, r.rank_reviews) IS DISTINCT FROM ((coalesce(r.rating, 0) * 10)::integer, r.review_count)
    FOR NO KEY UPDATE SKIP LOCKED
) AS due
WHERE held.restaurant_id = due.restaurant_id
$$
"""

IS_LISTED = "r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL"

# In the order of their keys, so that two writers wait for each other and cannot deadlock.
RENDER_LOCKED = f"""
CREATE FUNCTION render_locked_restaurants(ids uuid[]) RETURNS void
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

# What is rendered is never older than what somebody else has rendered. A statement sees what was committed before it
# began: without the lock, one that waits for another's Record would then put in its place what it read before.
RENDER = """
CREATE FUNCTION render_restaurants(ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM catalogue_restaurant WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM render_locked_restaurants(ids);
END
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

# Who is deleted leaves the read model at last, whatever its source records had rendered as they went before it.
REMOVED = """
CREATE FUNCTION restaurants_removed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM catalogue_kitchen USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_searchrow USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_record USING removed WHERE restaurant_id = removed.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER restaurants_removed AFTER DELETE ON catalogue_restaurant
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION restaurants_removed();
"""

# Where a review stood in a list before it was changed, so that a walk through pages keeps its place.
REMEMBER_PLACES = """
CREATE FUNCTION remember_review_places() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_reviewchange
        (restaurant, review, stars, length, helpful_count, photo_count, transaction, at)
    SELECT was.restaurant_id, was.id, was.stars, char_length(was.text), was.helpful_count, was.photo_count,
        pg_current_xact_id()::text::bigint, clock_timestamp()
    FROM was JOIN became AS now ON now.id = was.id
    WHERE (was.stars, char_length(was.text), was.helpful_count, was.photo_count)
        <> (now.stars, char_length(now.text), now.helpful_count, now.photo_count);
    RETURN NULL;
END
$$;
CREATE TRIGGER reviews_changed AFTER UPDATE ON catalogue_review
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION remember_review_places()
"""

# What lines of exports are made of keeps the database's own moment of its last change.
NOTE_CHANGE = """
CREATE FUNCTION note_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$
"""
ALWAYS_NOTED = ("review", "photo", "landmark")
NOTED_WHEN_CHANGED = ("cuisine", "source", "insight", "record", "version")
# All that is told of a version: its place in the feed is given later.
TOLD_OF_VERSIONS = ("restaurant_id", "version", "at", "actor", "kind", "patch")

# The names are another landmark's column: it has changed with each of them.
NAMES = """
CREATE FUNCTION landmark_was_renamed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_landmark SET updated_at = now() WHERE id = coalesce(NEW.landmark_id, OLD.landmark_id);
    RETURN NULL;
END
$$;
CREATE TRIGGER landmark_was_renamed AFTER INSERT OR UPDATE OR DELETE ON catalogue_landmarkname
FOR EACH ROW EXECUTE FUNCTION landmark_was_renamed()
"""
# Figures of reviews that no version speaks of are exported beside the record.
FIGURES = """
CREATE FUNCTION figures_were_counted() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM was JOIN became AS now ON now.id = was.id
    WHERE held.restaurant_id = now.id AND held.updated_at <> now()
        AND (was.star_counts, was.review_facets) IS DISTINCT FROM (now.star_counts, now.review_facets);
    RETURN NULL;
END
$$;
CREATE TRIGGER restaurant_figures AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION figures_were_counted();
"""
# An insight that is gone can say no more when that was.
WITHDRAWN = """
CREATE FUNCTION insights_were_removed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now() FROM gone WHERE held.restaurant_id = gone.restaurant_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER insight_removals AFTER DELETE ON catalogue_insight
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION insights_were_removed();
"""

# What is deleted leaves a Removal behind, whoever deletes it: a delta tells of it. Its moment is the beginning of the
# transaction: what one that began before a snapshot deletes after it is of the next delta.
NOTE_REMOVALS = """
CREATE FUNCTION note_removals() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT TG_ARGV[0], public_id(TG_ARGV[1], id), now() FROM gone;
    RETURN NULL;
END
$$
"""
# A version has no public id but this one.
NOTE_REMOVED_VERSIONS = """
CREATE FUNCTION note_removed_versions() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT 'history', public_id('rst', restaurant_id) || ':' || version, now() FROM gone;
    RETURN NULL;
END
$$
"""
REMOVALS = {
    "restaurant": "note_removals('restaurants', 'rst')",
    "review": "note_removals('reviews', 'rev')",
    "photo": "note_removals('photos', 'ph')",
    "landmark": "note_removals('landmarks', 'lm')",
    "version": "note_removed_versions()",
}

# An insight is outdated as soon as something that it was written from is changed or gone, whoever does that.
# Who writes an insight holds its restaurant, so it is marked before it is read for, or after it is written.
OUTDATE = """
CREATE FUNCTION outdate_insights(places uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF cardinality(places) > 0 THEN
        PERFORM FROM catalogue_restaurant WHERE id = ANY (places) ORDER BY id FOR NO KEY UPDATE;
        UPDATE catalogue_insight SET is_outdated = true WHERE restaurant_id = ANY (places) AND NOT is_outdated;
    END IF;
END
$$
"""
INPUT_CHANGED = """
CREATE FUNCTION {table}_of_insights_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM outdate_insights(ARRAY(
        SELECT DISTINCT unnest(ARRAY[was.{place}, now.{place}]) FROM was JOIN became AS now ON now.id = was.id
        WHERE ({was}) IS DISTINCT FROM ({now})
    ));
    RETURN NULL;
END
$$;
CREATE TRIGGER {table}_outdates_insights AFTER UPDATE ON catalogue_{table}
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT
    EXECUTE FUNCTION {table}_of_insights_changed();
"""
INPUT_TOLD_OF = """
CREATE FUNCTION outdate_insights_told_of() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM outdate_insights(ARRAY(SELECT DISTINCT restaurant_id FROM told));
    RETURN NULL;
END
$$;
CREATE TRIGGER review_outdates_insights_at_last AFTER DELETE ON catalogue_review
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
CREATE TRIGGER flowrule_outdates_insights_at_last AFTER DELETE ON catalogue_flowrule
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
CREATE TRIGGER flowrule_outdates_insights_at_first AFTER INSERT ON catalogue_flowrule
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
"""
# What a digest is made of, but for a name, which changes no claim; new reviews are judged by their number.
READ = {
    "review": ("restaurant_id", "stars", "text", "lang", "created_at"),
    "flowrule": ("restaurant_id", "weekdays", "time", "percent", "active"),
    "restaurant": ("hours",),
}


def notes_change(table: str) -> str:
    """The trigger of a table."""
    if table == "version":
        was, became = (", ".join(f"{side}.{name}" for name in TOLD_OF_VERSIONS) for side in ("old", "new"))
        has_changed = f"({was}) IS DISTINCT FROM ({became})"
    else:
        has_changed = "old.* IS DISTINCT FROM new.*"
    return (
        f"CREATE TRIGGER {table}_notes_change BEFORE UPDATE ON catalogue_{table}"
        f" FOR EACH ROW WHEN ({has_changed}) EXECUTE FUNCTION note_change()"
    )


def outdates_insights(table: str) -> str:
    """The trigger of a table whose rows change."""
    was, now = (", ".join(f"{side}.{name}" for name in READ[table]) for side in ("was", "now"))
    place = "id" if table == "restaurant" else "restaurant_id"
    return INPUT_CHANGED.format(table=table, place=place, was=was, now=now)


def forget(*functions: str) -> list[str]:
    """Drop these functions, with the triggers that call them."""
    return [f"DROP FUNCTION {function} CASCADE" for function in functions]


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("catalogue", "0001_functions_of_search"),
        ("catalogue", "0002_catalogue"),
        ("catalogue", "0003_restaurant_by_address"),
        ("catalogue", "0004_restaurant_by_reviews"),
        ("catalogue", "0005_markets_are_checked"),
        ("catalogue", "0006_restaurants_are_checked"),
        ("catalogue", "0007_restaurant_locked_fields"),
        ("catalogue", "0008_insights_and_exports"),
        ("catalogue", "0009_sources_of_an_export_part"),
        ("catalogue", "0010_insights_count_what_was_read"),
        ("catalogue", "0011_the_catalogue_whole"),
        ("catalogue", "0012_rendering"),
        ("catalogue", "0013_slots_that_staff_withdrew"),
        ("catalogue", "0014_rendering_waits"),
        ("catalogue", "0015_ranks_move_ahead_of_time"),
        ("catalogue", "0016_hours_that_cannot_be_read"),
        ("catalogue", "0017_read_model_of_removed"),
        ("catalogue", "0018_spans_without_indexes"),
        ("catalogue", "0019_reviews_remember_their_place"),
        ("catalogue", "0020_spans_carried_over"),
        ("catalogue", "0021_what_an_import_stated"),
        ("catalogue", "0022_reports_that_say_something_else"),
        ("catalogue", "0023_restaurants_not_open"),
        ("catalogue", "0024_booleans_are_named"),
        ("catalogue", "0025_exports_of_every_dataset"),
        ("catalogue", "0026_rows_know_when_they_changed"),
        ("catalogue", "0027_public_ids_are_made_fast"),
        ("catalogue", "0028_insight_calls_know_what_they_asked"),
        ("catalogue", "0029_removals_are_noted"),
        ("catalogue", "0030_all_that_is_exported_knows_its_changes"),
        ("catalogue", "0031_insights_know_when_their_input_changed"),
        ("catalogue", "0032_equal_orders_of_staff_are_one"),
        ("catalogue", "0033_exports_know_when_they_are_begun_anew"),
        ("catalogue", "0034_exports_that_failed_are_found"),
        ("catalogue", "0035_insights_that_nobody_approved_are_found"),
        ("catalogue", "0036_versions_are_found_by_their_kind"),
    ]

    dependencies = [
        ("accounts", "0001_people_venues_keys_and_events"),
        ("payments", "0001_prices_payments_and_wallets"),
        ("reservations", "0001_reservations_tables_and_guests"),
    ]

    operations = [
        TrigramExtension(),
        CreateExtension("fuzzystrmatch"),
        UnaccentExtension(),
        # Generated columns and indexes stand on these.
        migrations.RunSQL([MERCATOR, FOLD, DOCUMENT], forget("restaurant_document", "fold", "mercator")),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("key", models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("license", models.CharField(help_text="SPDX identifier, for example ODbL-1.0", max_length=60)),
                (
                    "attribution",
                    models.CharField(help_text="Attribution in responses with data of this source", max_length=200),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Market",
            fields=[
                ("slug", models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80)),
                ("country", models.CharField(help_text="ISO 3166-1 alpha-2", max_length=2)),
                (
                    "timezone",
                    models.CharField(help_text="IANA name", max_length=64, validators=[framework.timezones.is_a_zone]),
                ),
                ("currency", models.CharField(help_text="ISO 4217", max_length=3)),
                (
                    "calling_code",
                    models.CharField(help_text="Digits after the plus, for numbers written nationally", max_length=4),
                ),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                (
                    "radius_m",
                    models.PositiveIntegerField(help_text="Maximum distance from the centre in metres"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                        name="market_country_is_two_capitals",
                        violation_error_message="The country is a code of ISO 3166-1: DK.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                        name="market_currency_is_three_capitals",
                        violation_error_message="The currency is a code of ISO 4217: DKK.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("calling_code__regex", "^[1-9][0-9]{0,3}$")),
                        name="market_calling_code_is_digits",
                        violation_error_message="The calling code is the digits after the plus: 45.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("latitude__range", (-85, 85)), ("longitude__range", (-180, 180))),
                        name="market_on_earth",
                        violation_error_message="The centre lies within 85 degrees of latitude and 180 of longitude.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("radius_m__range", (1, 500000))),
                        name="market_radius_in_1_m_to_500_km",
                        violation_error_message="The radius is 1 to 500,000 metres.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Cuisine",
            fields=[
                ("slug", models.SlugField(max_length=60, primary_key=True, serialize=False)),
                ("label", models.CharField(help_text="In English", max_length=80)),
                (
                    "labels",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        help_text='In other languages: {"da": "Fisk og skaldyr"}',
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Attribute",
            fields=[
                ("key", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("label", models.CharField(help_text="In English", max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[("amenity", "Amenity"), ("diet", "Diet")], default="amenity", max_length=10
                    ),
                ),
                (
                    "values",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Values in addition to yes and no; empty: none",
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("key__regex", "^[a-z][a-z0-9_]*$")),
                        name="attribute_key_is_a_word",
                        violation_error_message="A key has small letters, digits and _, and begins with a letter.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Removal",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "dataset",
                    models.CharField(
                        choices=[
                            ("restaurants", "Restaurants"),
                            ("reviews", "Reviews"),
                            ("photos", "Photos"),
                            ("landmarks", "Landmarks"),
                            ("history", "History"),
                        ],
                        max_length=20,
                    ),
                ),
                ("key", models.CharField(help_text="Its public id", max_length=60)),
                ("at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["dataset", "at", "id"], name="removal_by_age")],
            },
        ),
        migrations.CreateModel(
            name="ReviewChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("restaurant", models.UUIDField()),
                ("review", models.UUIDField()),
                ("stars", models.IntegerField()),
                ("length", models.IntegerField(help_text="Of the text, in characters")),
                ("helpful_count", models.IntegerField()),
                ("photo_count", models.IntegerField()),
                ("transaction", models.BigIntegerField(help_text="Of the database: which walks have seen the change")),
                ("at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["restaurant"], name="review_change_of_restaurant")],
            },
        ),
        migrations.CreateModel(
            name="Holiday",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("date", models.DateField()),
                ("name", models.CharField(max_length=120)),
                (
                    "is_struck",
                    models.BooleanField(
                        default=False,
                        help_text="Excluded: not a holiday here, although the calendars contain it",
                        verbose_name="excluded",
                    ),
                ),
                (
                    "market",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holidays", to="catalogue.market"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("market", "date"), name="a_market_has_a_holiday_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Restaurant",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "alt_names",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), blank=True, default=list, size=None
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("temporarily_closed", "Temporarily Closed"),
                            ("permanently_closed", "Permanently Closed"),
                            ("moved", "Moved"),
                            ("unverified", "Unverified"),
                        ],
                        default="open",
                        max_length=20,
                    ),
                ),
                ("neighborhood", models.CharField(blank=True, max_length=120, null=True)),
                ("line1", models.CharField(blank=True, max_length=200, null=True)),
                ("locality", models.CharField(blank=True, max_length=120, null=True)),
                ("region", models.CharField(blank=True, max_length=120, null=True)),
                ("postal_code", models.CharField(blank=True, max_length=20, null=True)),
                ("country", models.CharField(max_length=2)),
                ("latitude", models.FloatField(blank=True, null=True)),
                ("longitude", models.FloatField(blank=True, null=True)),
                (
                    "position",
                    models.GeneratedField(
                        db_persist=True,
                        expression=catalogue.models.restaurants.Mercator("latitude", "longitude"),
                        output_field=catalogue.models.postgres_fields.PointField(null=True),
                    ),
                ),
                ("phone", models.CharField(blank=True, help_text="E.164", max_length=16, null=True)),
                ("phone_verified_at", models.DateTimeField(blank=True, null=True)),
                ("website", models.URLField(blank=True, max_length=500, null=True)),
                ("rating", models.DecimalField(blank=True, decimal_places=1, max_digits=2, null=True)),
                ("review_count", models.PositiveIntegerField(default=0)),
                (
                    "star_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(),
                        blank=True,
                        default=list,
                        help_text="From one star to five",
                        size=5,
                    ),
                ),
                (
                    "price_level",
                    models.IntegerField(blank=True, help_text="1 to 4, one step per currency symbol", null=True),
                ),
                (
                    "cuisines",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60),
                        blank=True,
                        default=list,
                        help_text="Slugs, the main one first",
                        size=None,
                    ),
                ),
                (
                    "hours",
                    models.JSONField(
                        blank=True, help_text="As catalogue.hours.Hours.to_json; null when unknown", null=True
                    ),
                ),
                ("attributes", models.JSONField(blank=True, default=dict)),
                ("external_ids", models.JSONField(blank=True, default=dict)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("version", models.PositiveIntegerField(default=1, help_text="Set by the database")),
                (
                    "cuisine",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="restaurants",
                        to="catalogue.cuisine",
                    ),
                ),
                (
                    "market",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="restaurants", to="catalogue.market"
                    ),
                ),
                (
                    "locked_fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Set by staff: imports do not change these fields",
                        size=None,
                    ),
                ),
                ("erased_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "review_facets",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        editable=False,
                        help_text="by_lang, with_photos, with_reply",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="restaurant_by_position"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(models.Func("name", function="fold"), "gin_trgm_ops"),
                        name="restaurant_by_name_trigrams",
                    ),
                    models.Index(
                        condition=models.Q(("phone__isnull", False)), fields=["phone"], name="restaurant_by_phone"
                    ),
                    models.Index(fields=["market", "id"], name="restaurant_by_market"),
                    models.Index(fields=["updated_at", "id"], name="restaurant_by_update"),
                    models.Index(
                        condition=models.Q(
                            ("hours__contains", {"known": False}), ("hours__has_key", "notes"), _connector="OR"
                        ),
                        fields=["id"],
                        name="restaurant_with_unread_hours",
                    ),
                    models.Index(
                        condition=models.Q(("status", "open"), _negated=True),
                        fields=["status", "id"],
                        name="restaurant_not_open",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("price_level__range", (1, 4))), name="restaurant_price_level_in_1_to_4"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rating__range", (1, 5))), name="restaurant_rating_in_1_to_5"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("phone__regex", "^\\+[1-9][0-9]{6,14}$")), name="restaurant_phone_is_e164"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("slug__regex", "^[a-z0-9]+(-[a-z0-9]+)*$")),
                        name="restaurant_slug_is_lowercase",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("latitude__isnull", True), ("longitude__isnull", True)),
                            models.Q(
                                ("latitude__isnull", False),
                                ("latitude__range", (-85, 85)),
                                ("longitude__isnull", False),
                                ("longitude__range", (-180, 180)),
                            ),
                            _connector="OR",
                        ),
                        name="restaurant_location_whole_and_on_earth",
                        violation_error_message="A location is a latitude within 85 degrees and a longitude within 180, or neither.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                        name="restaurant_country_is_two_capitals",
                        violation_error_message="The country is a code of ISO 3166-1: DK.",
                    ),
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            models.Func("attributes", function="jsonb_typeof", output_field=models.TextField()),
                            models.Value("object"),
                        ),
                        name="restaurant_attributes_are_an_object",
                    ),
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            models.Func("external_ids", function="jsonb_typeof", output_field=models.TextField()),
                            models.Value("object"),
                        ),
                        name="restaurant_external_ids_are_an_object",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("merged_into__isnull", True),
                            models.Q(("merged_into", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="restaurant_is_not_merged_into_itself",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Insight",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="insight",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("text", models.CharField(max_length=600)),
                (
                    "detail",
                    models.JSONField(help_text="Best time, dishes, aspects, watch-outs, each with its citations"),
                ),
                ("provider", models.CharField(max_length=40)),
                ("provider_version", models.CharField(max_length=20)),
                ("input_hash", models.CharField(help_text="SHA-256 of the input", max_length=64)),
                ("review_count", models.PositiveIntegerField(help_text="Reviews used")),
                ("reviews_through", models.DateTimeField(help_text="Newest review used")),
                ("rating", models.FloatField(blank=True, null=True)),
                ("generated_at", models.DateTimeField()),
                ("hidden", models.BooleanField(default=False, help_text="Not served")),
                (
                    "failed_at",
                    models.DateTimeField(
                        blank=True, help_text="Last failure of the provider, if there was no success since", null=True
                    ),
                ),
                (
                    "restaurant_review_count",
                    models.PositiveIntegerField(help_text="Review count of the restaurant at that time"),
                ),
                ("approved_at", models.DateTimeField(blank=True, help_text="When staff approved it", null=True)),
                ("approved_by", models.CharField(blank=True, max_length=150)),
                (
                    "cost_usd",
                    models.DecimalField(decimal_places=6, default=0, max_digits=12, verbose_name="cost in USD"),
                ),
                (
                    "model",
                    models.CharField(blank=True, help_text="Model of the provider", max_length=80),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
                (
                    "is_outdated",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="The input has changed since",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("approved_at", None), models.Q(("text", ""), _negated=True)),
                        fields=["provider"],
                        name="insight_not_approved",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("review_count__gte", 5), ("text", ""), _connector="OR"),
                        name="insight_has_enough_reviews",
                        violation_error_message="Fewer than five reviews say too little.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InsightDemand",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="insight_demand",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("asked", models.PositiveIntegerField(default=1, help_text="How often")),
                ("first_asked_at", models.DateTimeField()),
                ("last_asked_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["-asked", "first_asked_at"], name="insight_demand_by_weight")],
            },
        ),
        migrations.CreateModel(
            name="InsightCall",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("provider", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=80)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("asked", "no response yet"),
                            ("written", "Written"),
                            ("refused", "the model declined"),
                            ("rejected", "text not supported by the reviews"),
                            ("failed", "no response, or an invalid one"),
                            ("dropped", "the reviews or the insight changed in the meantime"),
                        ],
                        default="asked",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("cost_usd", models.DecimalField(decimal_places=6, max_digits=12, verbose_name="cost in USD")),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="insight_calls",
                        to="catalogue.restaurant",
                    ),
                ),
                ("provider_version", models.CharField(default="", max_length=20)),
                (
                    "input_hash",
                    models.CharField(default="", help_text="SHA-256 of the input", max_length=64),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["started_at"], name="insight_call_by_day"),
                    models.Index(fields=["restaurant", "-started_at"], name="insight_call_of_restaurant"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("cost_usd__gte", 0)), name="insight_call_costs_no_less_than_nothing"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("outcome", "asked")),
                            models.Q(models.Q(("outcome", "asked"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="an_insight_call_that_ended_says_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outcome__in", ["asked", "written", "refused", "rejected", "failed", "dropped"])
                        ),
                        name="insight_call_outcome_is_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "asked")),
                        fields=("restaurant",),
                        name="one_open_insight_call_of_a_restaurant",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Record",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="record",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("slug", models.CharField(max_length=120, unique=True)),
                ("status", models.CharField(max_length=20)),
                ("timezone", models.CharField(max_length=64)),
                (
                    "hours_known",
                    models.BooleanField(help_text="Known to be always closed is not the same as not known"),
                ),
                ("before", models.TextField()),
                ("hours", models.TextField(help_text="Members of the object `hours`, but for its state")),
                ("after", models.TextField()),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), help_text="Sources of the data", size=None
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["updated_at"], name="record_by_update"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "dataset",
                    models.CharField(
                        choices=[
                            ("restaurants", "Restaurants"),
                            ("reviews", "Reviews"),
                            ("photos", "Photos"),
                            ("landmarks", "Landmarks"),
                            ("history", "History"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "format",
                    models.CharField(
                        choices=[("parquet", "parquet"), ("jsonl.gz", "jsonl.gz"), ("csv.gz", "csv.gz")], max_length=20
                    ),
                ),
                ("filter", models.JSONField(blank=True, default=dict)),
                ("fingerprint", models.CharField(help_text="SHA-256 of what is exported and how", max_length=64)),
                ("queue", models.CharField(help_text="Queue of the customer's tier", max_length=20)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("awaiting_payment", "Awaiting Payment"),
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("expired", "Expired"),
                        ],
                        default="queued",
                        max_length=20,
                    ),
                ),
                (
                    "rows_total",
                    models.BigIntegerField(blank=True, help_text="Rows when it began, for the progress", null=True),
                ),
                (
                    "rows",
                    models.BigIntegerField(blank=True, help_text="Rows in the files; known at the end", null=True),
                ),
                ("manifest_sha256", models.CharField(blank=True, max_length=64)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField()),
                (
                    "snapshot_at",
                    models.DateTimeField(blank=True, help_text="Time of the data in the files", null=True),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "wallet",
                    models.ForeignKey(
                        blank=True,
                        help_text="Null: ordered by staff",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exports",
                        to="payments.wallet",
                    ),
                ),
                (
                    "changes_from",
                    models.DateTimeField(
                        blank=True,
                        help_text="Changes before this time are in the files; a delta starts here",
                        null=True,
                    ),
                ),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        blank=True,
                        default=list,
                        help_text="Field groups; empty: the core fields",
                        size=None,
                    ),
                ),
                ("generation", models.PositiveIntegerField(default=0, help_text="Number of snapshots")),
                (
                    "payment",
                    models.OneToOneField(
                        blank=True,
                        help_text="Null: not paid yet, or nothing to pay",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="export",
                        to="payments.payment",
                    ),
                ),
                (
                    "since_export",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only what has changed since that one",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deltas",
                        to="catalogue.export",
                    ),
                ),
                (
                    "snapshots",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Names under which it may still be open",
                        size=None,
                    ),
                ),
                (
                    "restarted_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was last restarted after a failure", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["wallet", "-created_at"], name="export_newest_of_wallet"),
                    models.Index(
                        condition=models.Q(("status", "failed")), fields=["created_at"], name="export_failed"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), _negated=True),
                            models.Q(("error", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="a_failed_export_says_why",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "succeeded"), _negated=True),
                            models.Q(("expires_at__isnull", False), ("rows__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_finished_export_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "awaiting_payment",
                                    "queued",
                                    "running",
                                    "succeeded",
                                    "failed",
                                    "cancelled",
                                    "expired",
                                ],
                            )
                        ),
                        name="export_status_is_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ("awaiting_payment", "queued", "running"))),
                        fields=("wallet", "fingerprint"),
                        name="one_unfinished_export_of_a_kind_and_wallet",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchRow",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_row",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("market", models.CharField(max_length=40)),
                ("position", catalogue.models.postgres_fields.PointField(null=True)),
                ("latitude", models.FloatField(null=True)),
                ("longitude", models.FloatField(null=True)),
                ("timezone", models.CharField(max_length=64)),
                ("is_shut", models.BooleanField(help_text="Closed for a while, whatever the hours say")),
                (
                    "cuisines",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), size=None),
                ),
                ("price_level", models.IntegerField(null=True)),
                ("rating", models.DecimalField(decimal_places=1, max_digits=2, null=True)),
                ("review_count", models.IntegerField()),
                ("rank_stars", models.IntegerField(help_text="The rating in tenths; 0 without one")),
                ("rank_reviews", models.IntegerField()),
                ("former_stars", models.IntegerField()),
                ("former_reviews", models.IntegerField()),
                ("ranked_at", models.DateTimeField()),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        help_text="Keys of the attributes that it has",
                        size=None,
                    ),
                ),
                ("neighborhood", models.CharField(help_text="Folded", max_length=120, null=True)),
                ("name", models.CharField(help_text="Folded", max_length=200)),
                ("line1", models.CharField(help_text="Folded", max_length=200, null=True)),
                ("document", django.contrib.postgres.search.SearchVectorField()),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                ("card", models.TextField()),
                ("open_spans", catalogue.models.postgres_fields.SpansField(null=True)),
                (
                    "spans_until",
                    models.DateTimeField(help_text="Until when the spans are worked out; null: not yet", null=True),
                ),
                (
                    "spans_missing",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Q(("spans_until__isnull", True)),
                        output_field=models.BooleanField(),
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="search_by_position"),
                    django.contrib.postgres.indexes.GinIndex(fields=["document"], name="search_by_words"),
                    django.contrib.postgres.indexes.GinIndex(fields=["cuisines"], name="search_by_cuisine"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(models.F("name"), "gin_trgm_ops"),
                        name="search_by_letters",
                    ),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(models.F("name"), "text_pattern_ops"),
                        name="search_by_name",
                    ),
                    models.Index(fields=["line1"], name="search_by_address"),
                    models.Index(fields=["market", "-rank_reviews", "restaurant"], name="search_by_market_reviews"),
                    models.Index(fields=["-rank_reviews", "restaurant"], name="search_by_reviews"),
                    models.Index(fields=["-rank_stars", "-rank_reviews", "restaurant"], name="search_by_rating"),
                    models.Index(
                        fields=["market", "-rank_stars", "-rank_reviews", "restaurant"], name="search_by_market_rating"
                    ),
                    models.Index(fields=["ranked_at"], name="search_by_ranking"),
                    models.Index(
                        condition=models.Q(("spans_missing", True)), fields=["restaurant"], name="search_without_spans"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveIntegerField()),
                (
                    "lo",
                    models.CharField(
                        blank=True, help_text="After this key; null: from the first", max_length=40, null=True
                    ),
                ),
                (
                    "hi",
                    models.CharField(
                        blank=True, help_text="Up to this key; null: to the last", max_length=40, null=True
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("taken", "Taken"), ("done", "Done")],
                        default="waiting",
                        max_length=20,
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "tries",
                    models.PositiveIntegerField(default=0, help_text="Failed attempts"),
                ),
                ("rows", models.PositiveIntegerField(blank=True, null=True)),
                ("bytes", models.BigIntegerField(blank=True, null=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "export",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="catalogue.export"
                    ),
                ),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Sources of the data",
                        size=None,
                    ),
                ),
                (
                    "file",
                    models.CharField(blank=True, help_text="Its name in the folder of the export", max_length=100),
                ),
                (
                    "generation",
                    models.PositiveIntegerField(default=0, help_text="Of the snapshot that it is known to be of"),
                ),
                (
                    "horizon",
                    models.BigIntegerField(
                        blank=True, help_text="Transactions before this one were all over when it was read", null=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("rows", "Rows"), ("removed", "Removed")],
                        default="rows",
                        help_text="Rows, or the ids of deleted rows of a delta",
                        max_length=10,
                    ),
                ),
                ("token", models.PositiveBigIntegerField(default=0, help_text="Of the last claim")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("export", "seq"), name="a_part_of_an_export_is_there_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "taken", "done"])),
                        name="export_part_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(
                                ("bytes__isnull", False),
                                ("rows__isnull", False),
                                models.Q(("sha256", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="a_written_part_is_counted",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Kitchen",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cuisine", models.CharField(max_length=60)),
                ("position", catalogue.models.postgres_fields.PointField(null=True)),
                ("price_level", models.IntegerField(null=True)),
                ("rating", models.DecimalField(decimal_places=1, max_digits=2, null=True)),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kitchens",
                        to="catalogue.searchrow",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(
                        fields=["cuisine", "position", "price_level"], name="kitchen_by_cuisine_and_position"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("restaurant", "cuisine"), name="a_kitchen_is_there_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("actor", models.CharField(help_text="import:osm, staff:12, system", max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("created", "Created"),
                            ("updated", "Updated"),
                            ("renamed", "Renamed"),
                            ("closed", "Closed"),
                            ("reopened", "Reopened"),
                            ("merged", "Merged"),
                            ("erased", "Erased"),
                        ],
                        max_length=10,
                    ),
                ),
                ("patch", models.JSONField(default=dict)),
                ("seq", models.BigIntegerField(null=True, unique=True)),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("seq__isnull", True)), fields=["id"], name="version_without_seq"),
                    models.Index(fields=["kind", "id"], name="version_by_kind"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("restaurant", "version"), name="a_version_is_there_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="FormerSlug",
            fields=[
                ("slug", models.CharField(max_length=120, primary_key=True, serialize=False)),
                ("until", models.DateTimeField()),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_slugs",
                        to="catalogue.restaurant",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SourceRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("record", models.CharField(help_text="The source's own id", max_length=120)),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 of the record; equal means unchanged", max_length=64),
                ),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        default=list,
                        help_text="Fields taken from this source",
                        size=None,
                    ),
                ),
                ("updated_at", models.DateTimeField()),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_records",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="records", to="catalogue.source"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("source", "record"), name="one_restaurant_per_source_record")
                ],
            },
        ),
        migrations.CreateModel(
            name="Landmark",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("landmark", "Landmark"),
                            ("museum", "Museum"),
                            ("park", "Park"),
                            ("theatre", "Theatre"),
                            ("viewpoint", "Viewpoint"),
                            ("market", "Market"),
                            ("transit", "Transit"),
                            ("neighborhood", "Neighborhood"),
                            ("city", "City"),
                        ],
                        max_length=20,
                    ),
                ),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                (
                    "position",
                    models.GeneratedField(
                        db_persist=True,
                        expression=catalogue.models.restaurants.Mercator("latitude", "longitude"),
                        output_field=catalogue.models.postgres_fields.PointField(),
                    ),
                ),
                (
                    "prominence",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="0 to 100: decides between landmarks with the same name"
                    ),
                ),
                ("wikidata", models.CharField(blank=True, max_length=20, null=True, unique=True)),
                (
                    "market",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="landmarks",
                        to="catalogue.market",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalogue.source"
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="landmark_by_position")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("latitude__range", (-85, 85)), ("longitude__range", (-180, 180))),
                        name="landmark_on_earth",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("wikidata__regex", "^Q[1-9][0-9]*$")), name="landmark_wikidata_is_a_qid"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LandmarkName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                (
                    "folded",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func("name", function="fold"),
                        output_field=models.CharField(max_length=200),
                    ),
                ),
                (
                    "landmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="names", to="catalogue.landmark"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["folded"], name="landmark_name_exact"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["folded"], name="landmark_name_trigrams", opclasses=["gin_trgm_ops"]
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("landmark", "folded"), name="landmark_has_a_name_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="FlowRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), help_text="0 is Monday", size=None
                    ),
                ),
                ("time", models.TimeField(help_text="First slot, in the restaurant's time zone")),
                ("percent", models.PositiveSmallIntegerField()),
                ("active", models.BooleanField(default=True)),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_rules",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "applies_to",
                    models.CharField(
                        choices=[("food", "Food"), ("total", "Total")],
                        db_default="food",
                        default="food",
                        max_length=10,
                    ),
                ),
                (
                    "book_before_minutes",
                    models.PositiveSmallIntegerField(
                        db_default=30, default=30, help_text="Minutes before the slot until which it can be booked"
                    ),
                ),
                (
                    "bookable_days",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Days before the slot from which it can be booked; empty: no limit",
                        null=True,
                    ),
                ),
                (
                    "every_minutes",
                    models.PositiveSmallIntegerField(
                        db_default=30,
                        default=30,
                        help_text="Minutes between slots",
                        verbose_name="interval in minutes",
                    ),
                ),
                ("party_max", models.PositiveSmallIntegerField(db_default=8, default=8)),
                ("party_min", models.PositiveSmallIntegerField(db_default=1, default=1)),
                (
                    "seats",
                    models.PositiveSmallIntegerField(db_default=8, default=8, help_text="Guests per slot"),
                ),
                ("terms", models.CharField(blank=True, db_default="", default="", max_length=500)),
                (
                    "until",
                    models.TimeField(blank=True, help_text="Last slot; empty: one slot a day", null=True),
                ),
                (
                    "source_record",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="Source of the rule; empty: staff",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="flow_rules",
                        to="catalogue.sourcerecord",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("percent__range", (1, 90))), name="flow_rule_percent_in_1_to_90"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("weekdays__contained_by", [0, 1, 2, 3, 4, 5, 6]), ("weekdays__len__gte", 1)
                        ),
                        name="flow_rule_weekdays_in_0_to_6",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("until__isnull", True), ("until__gte", models.F("time")), _connector="OR"),
                        name="flow_rule_ends_after_it_begins",
                        violation_error_message="The last slot is not before the first.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("every_minutes__range", (5, 1440))),
                        name="flow_rule_steps_of_5_minutes_to_a_day",
                        violation_error_message="From slot to slot it is 5 to 1440 minutes.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("party_max__gte", models.F("party_min")),
                            ("party_min__gte", 1),
                            ("seats__gte", models.F("party_max")),
                        ),
                        name="flow_rule_party_fits_the_seats",
                        violation_error_message="A party is of 1 to so many guests as the slot has seats.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FlowSlot",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("starts_at", models.DateTimeField()),
                ("date", models.DateField(help_text="In the restaurant's time zone, as `time`")),
                ("time", models.TimeField()),
                ("percent", models.PositiveSmallIntegerField()),
                ("applies_to", models.CharField(choices=[("food", "Food"), ("total", "Total")], max_length=10)),
                ("party_min", models.PositiveSmallIntegerField()),
                ("party_max", models.PositiveSmallIntegerField()),
                ("seats", models.PositiveSmallIntegerField()),
                ("seats_left", models.SmallIntegerField()),
                ("bookable_from", models.DateTimeField(null=True)),
                ("book_before", models.DateTimeField()),
                ("terms", models.CharField(blank=True, max_length=500)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_slots",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="slots",
                        to="catalogue.flowrule",
                    ),
                ),
                (
                    "is_barred",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Withdrawn by staff: rules do not restore it"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "starts_at"], name="slot_next_of_restaurant"),
                    models.Index(
                        condition=models.Q(("seats_left__gt", 0), ("withdrawn_at__isnull", True)),
                        fields=["starts_at"],
                        name="slot_on_sale",
                    ),
                    models.Index(
                        condition=models.Q(("seats_left__lt", models.F("seats"))),
                        fields=["starts_at"],
                        name="slot_booked",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("rule", "starts_at"), name="a_slot_of_a_rule_is_there_once"),
                    models.CheckConstraint(
                        condition=models.Q(("seats_left__gte", 0), ("seats_left__lte", models.F("seats"))),
                        name="a_slot_sells_no_seat_twice",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("percent__range", (1, 90))), name="flow_slot_percent_in_1_to_90"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("file", models.CharField(max_length=400)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("stopped", "stopped by the safety check"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("read", models.PositiveIntegerField(default=0)),
                ("created", models.PositiveIntegerField(default=0)),
                ("changed", models.PositiveIntegerField(default=0)),
                ("unchanged", models.PositiveIntegerField(default=0)),
                (
                    "skipped",
                    models.PositiveIntegerField(default=0, help_text="Valid rows that are not restaurants"),
                ),
                ("refused", models.PositiveIntegerField(default=0)),
                ("rejects_file", models.CharField(blank=True, max_length=400)),
                ("error", models.TextField(blank=True)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "market",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.market",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="catalogue.source"
                    ),
                ),
                (
                    "closed",
                    models.PositiveIntegerField(db_default=0, default=0, help_text="Missing in a newer release"),
                ),
                (
                    "forced",
                    models.BooleanField(db_default=False, default=False, help_text="Ran despite the safety check"),
                ),
                (
                    "merged",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="New records of restaurants known from other sources"
                    ),
                ),
                (
                    "queued",
                    models.PositiveIntegerField(db_default=0, default=0, help_text="Pairs for staff to review"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("stars", models.IntegerField()),
                ("text", models.TextField(blank=True)),
                ("lang", models.CharField(blank=True, help_text="ISO 639-1", max_length=8)),
                ("author", models.CharField(max_length=120)),
                ("visited_on", models.DateField(blank=True, null=True)),
                ("helpful_count", models.PositiveIntegerField(default=0)),
                ("owner_reply", models.TextField(blank=True, null=True)),
                ("owner_replied_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.source",
                    ),
                ),
                ("photo_count", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "record",
                    models.CharField(
                        blank=True,
                        help_text="The source's own id of the restaurant, where an import says it",
                        max_length=120,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "-created_at", "-id"], name="review_newest_of_restaurant"),
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["updated_at"], name="review_by_update"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("stars__range", (1, 5))), name="review_stars_in_1_to_5"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("owner_replied_at__isnull", True), ("owner_reply__isnull", True)),
                            models.Q(("owner_replied_at__isnull", False), ("owner_reply__isnull", False)),
                            _connector="OR",
                        ),
                        name="review_reply_has_its_moment",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Photo",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("food", "Food"),
                            ("drink", "Drink"),
                            ("interior", "Interior"),
                            ("exterior", "Exterior"),
                            ("menu", "Menu"),
                            ("other", "Other"),
                        ],
                        default="food",
                        max_length=10,
                    ),
                ),
                ("caption", models.CharField(blank=True, max_length=300, null=True)),
                (
                    "alt",
                    models.CharField(blank=True, help_text="Text alternative of the image", max_length=300),
                ),
                ("author", models.CharField(blank=True, max_length=120, null=True)),
                ("license", models.CharField(help_text="SPDX identifier", max_length=60)),
                ("width", models.PositiveIntegerField(help_text="Pixels")),
                ("height", models.PositiveIntegerField(help_text="Pixels")),
                ("file", models.CharField(blank=True, help_text="Its name in the storage", max_length=200)),
                (
                    "art",
                    models.BigIntegerField(
                        blank=True, editable=False, help_text="The number it is painted from", null=True
                    ),
                ),
                ("is_hidden", models.BooleanField(default=False, help_text="Not shown", verbose_name="hidden")),
                ("created_at", models.DateTimeField()),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="photos",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="photos",
                        to="catalogue.review",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.source",
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "-created_at", "-id"], name="photo_newest_of_restaurant"),
                    models.Index(
                        condition=models.Q(("review__isnull", False)), fields=["review"], name="photo_of_review"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("art__isnull", False), ("file", "")),
                            models.Q(models.Q(("file", ""), _negated=True), ("art__isnull", True)),
                            _connector="OR",
                        ),
                        name="a_photo_has_a_file_or_is_painted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("height__gte", 1), ("width__gte", 1)), name="a_photo_has_a_size"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Listing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "is_active",
                    models.BooleanField(
                        default=True, help_text="Whether offers are shown and can be booked", verbose_name="active"
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="listing", to="catalogue.restaurant"
                    ),
                ),
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="listing", to="accounts.venue"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FlowBooking",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("seats", models.PositiveSmallIntegerField()),
                (
                    "contact",
                    models.CharField(
                        help_text="Hash of the guest's mail address or phone: what caps count", max_length=64
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "released_at",
                    models.DateTimeField(blank=True, help_text="When the seats were released", null=True),
                ),
                (
                    "reservation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_booking",
                        to="reservations.reservation",
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bookings", to="catalogue.flowslot"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["contact", "created_at"], name="flow_booking_of_contact"),
                    models.Index(
                        condition=models.Q(("released_at__isnull", True)), fields=["slot"], name="flow_booking_holding"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MatchCandidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("score", models.FloatField(help_text="0 to 1")),
                ("reasons", models.JSONField(default=dict, help_text="Similarities: name, address, phone, metres")),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("merged", "Merged"), ("distinct", "Distinct")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("found_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalogue.restaurant"
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalogue.restaurant"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "-score", "id"], name="match_likeliest_of_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))), name="match_in_order_of_ids"
                    ),
                    models.UniqueConstraint(fields=("first", "second"), name="a_pair_is_judged_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("closed", "Closed"),
                            ("moved", "Moved"),
                            ("hours_wrong", "Hours Wrong"),
                            ("phone_wrong", "Phone Wrong"),
                            ("address_wrong", "Address Wrong"),
                            ("location_wrong", "Location Wrong"),
                            ("duplicate", "Duplicate"),
                            ("not_a_restaurant", "Not A Restaurant"),
                            ("other", "Other"),
                        ],
                        max_length=20,
                    ),
                ),
                ("text", models.CharField(blank=True, max_length=1000)),
                (
                    "contact",
                    models.CharField(blank=True, help_text="Email address for questions", max_length=254),
                ),
                (
                    "reporter",
                    models.CharField(help_text="Hash of the origin, to count each reporter once", max_length=64),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("applied", "Applied"), ("dismissed", "Dismissed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="catalogue.restaurant"
                    ),
                ),
                (
                    "same_as",
                    models.ForeignKey(
                        blank=True,
                        help_text="Of a duplicate",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalogue.restaurant",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "created_at"], name="report_oldest_of_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "open")),
                            models.Q(models.Q(("state", "open"), _negated=True), ("decided_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_decided_report_says_when",
                    ),
                    models.UniqueConstraint(
                        models.F("restaurant"),
                        models.F("kind"),
                        models.F("reporter"),
                        django.db.models.functions.text.MD5("text"),
                        models.F("same_as"),
                        condition=models.Q(("state", "open")),
                        name="the_same_open_report_of_a_reporter_is_one",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        # What follows from a restaurant follows by triggers: its version, its former slugs, its Record and its SearchRow.
        migrations.RunSQL(
            [PUBLIC_ID, MOMENT, MEMBERS, RECORD, ROW, RANK, RENDER_LOCKED, RENDER],
            forget(
                "render_restaurants",
                "render_locked_restaurants",
                "rank_restaurants",
                "restaurant_search_row",
                "restaurant_record",
                "json_members",
                "api_moment",
                "public_id",
            ),
        ),
        migrations.RunSQL("CREATE SEQUENCE catalogue_version_feed", "DROP SEQUENCE catalogue_version_feed"),
        migrations.RunSQL(
            [COUNT, REFUSE, ADDED, CHANGED, TOLD, TRIGGERS, REMOVED],
            forget(
                "restaurants_removed",
                "restaurants_told_of",
                "restaurants_changed",
                "restaurants_added",
                "refuse_former_slugs",
                "count_restaurant_version",
            ),
        ),
        migrations.RunSQL(REMEMBER_PLACES, forget("remember_review_places")),
        migrations.RunSQL(
            [
                NOTE_CHANGE,
                *(
                    f"CREATE TRIGGER {table}_notes_change BEFORE UPDATE ON catalogue_{table}"
                    " FOR EACH ROW EXECUTE FUNCTION note_change()"
                    for table in ALWAYS_NOTED
                ),
                *(notes_change(table) for table in NOTED_WHEN_CHANGED),
                NAMES,
                FIGURES,
                WITHDRAWN,
            ],
            forget("insights_were_removed", "figures_were_counted", "landmark_was_renamed", "note_change"),
        ),
        migrations.RunSQL(
            [
                NOTE_REMOVALS,
                NOTE_REMOVED_VERSIONS,
                *(
                    f"CREATE TRIGGER {table}_removals AFTER DELETE ON catalogue_{table}"
                    f" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {function}"
                    for table, function in REMOVALS.items()
                ),
            ],
            forget("note_removed_versions", "note_removals"),
        ),
        migrations.RunSQL(
            [OUTDATE, *(outdates_insights(table) for table in READ), INPUT_TOLD_OF],
            forget(
                "outdate_insights_told_of", *(f"{table}_of_insights_changed" for table in READ), "outdate_insights"
            ),
        ),
        migrations.RunPython(make_references, migrations.RunPython.noop),
    ]
