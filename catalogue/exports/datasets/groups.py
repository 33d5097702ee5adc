"""Field groups of an export of restaurants."""

from dataclasses import dataclass, replace
from datetime import datetime

import psycopg
from django.db import connection
from django.db.models import Case, Q, Value, When

from catalogue.exports.datasets.base import Dataset
from catalogue.exports.datasets.fields import (
    Column,
    Content,
    Field,
    describe_rows,
    json_nullable,
    json_object,
    json_plain,
    json_value,
    value,
)
from catalogue.field_groups import context, insights
from catalogue.insights.pipeline import approval
from catalogue.insights.pipeline.staleness import MAX_AGE, MIN_REVIEWS, stale_condition
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Export, Insight
from catalogue.search.geocoding import distance


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Content):
    """Fields that are ordered together, with the joins and columns they add to a dataset.

    `changed` is the condition that they changed since the earlier export.
    """

    joins: str = ""
    changed: str | None = None
    versions: tuple[str, ...] = ()


def add_group(dataset: Dataset, group: Group) -> Dataset:
    return replace(
        dataset,
        rows=f"{dataset.rows} {group.joins}",
        changed=f"{dataset.changed} OR {group.changed}" if group.changed else dataset.changed,
        # Joins two JSON objects: without the closing brace of the first and the opening brace of the second.
        record=f"left({dataset.record}, -1) || ',' || substr({group.record}, 2)",
        schema={**dataset.schema, **group.schema},
        columns=(*dataset.columns, *group.columns),
        versions=(*dataset.versions, *group.versions),
    )


# The reviews themselves are another dataset.
IS_REVIEWED = "restaurant.star_counts NOT IN ('{}', '{0,0,0,0,0}')"
STARS = {stars: f"coalesce(restaurant.star_counts[{stars}], 0)" for stars in range(5, 0, -1)}
BY_LANG = "coalesce((restaurant.review_facets -> 'by_lang')::text, '{}')"


def select_facet(name: str) -> str:
    """The SQL of the number of reviews in a facet."""
    return f"coalesce((restaurant.review_facets ->> '{name}')::integer, 0)"


def null_if_unreviewed(sql: str) -> str:
    """Null for a restaurant without reviews."""
    return f"CASE WHEN {IS_REVIEWED} THEN {sql} END"


SUMMARY = json_object(
    {
        "rating": json_nullable("restaurant.rating"),
        "count": "restaurant.review_count",
        "distribution": json_object({str(stars): sql for stars, sql in STARS.items()}),
        "by_lang": BY_LANG,
        "with_photos": select_facet("with_photos"),
        "with_reply": select_facet("with_reply"),
    }
)
REVIEWS = Group(
    **describe_rows(
        Field(
            "reviews", f"coalesce({null_if_unreviewed(json_object({'summary': SUMMARY}))}, 'null')", "object or null"
        ),
        Column("reviews_rating", null_if_unreviewed("restaurant.rating"), "number or null"),
        Column("reviews_count", null_if_unreviewed("restaurant.review_count"), "integer or null"),
        *(
            Column(f"reviews_stars_{stars}", null_if_unreviewed(sql), "integer or null")
            for stars, sql in STARS.items()
        ),
        Column("reviews_by_lang", null_if_unreviewed(BY_LANG), "string or null", "JSON: how many, by ISO 639-1."),
        Column("reviews_with_photos", null_if_unreviewed(select_facet("with_photos")), "integer or null"),
        Column("reviews_with_reply", null_if_unreviewed(select_facet("with_reply")), "integer or null"),
    ),
)


# First by a circle on the Mercator plane, for the index, then by great-circle distance
# (catalogue.search.geocoding.distance).
LAT, LNG = "restaurant.latitude", "restaurant.longitude"
METRES = distance.METRES_SQL.replace("%(lat)s", LAT).replace("%(lng)s", LNG)
STRETCH = f"""{distance.MERCATOR_RADIUS_M / distance.EARTH_RADIUS_M * (1 + 1e-9)}
    / cos(radians(abs({LAT})) + {context.DEFAULT_RADIUS_M / distance.EARTH_RADIUS_M})"""
EAST = f"radians(r.longitude - {LNG})"
BEARING = f"""((round(degrees(atan2(
    sin({EAST}) * cos(radians(r.latitude)),
    cos(radians({LAT})) * sin(radians(r.latitude)) - sin(radians({LAT})) * cos(radians(r.latitude)) * cos({EAST})
)))::integer %% 360) + 360) %% 360"""
ENTRY = json_object(
    {
        "id": json_plain("public_id('lm', near.id)"),
        "name": json_value("near.name"),
        "kind": json_value("near.kind"),
        "distance_m": "round(near.metres)",
        "walking_distance_m": f"round(near.metres * {distance.DETOUR_FACTOR})",
        "walking_minutes": f"ceil(near.metres * {distance.DETOUR_FACTOR} / {distance.WALKING_M_PER_MINUTE})",
        "bearing": "near.bearing",
        "wikidata": json_nullable("near.wikidata"),
        "source": json_value("near.source_id"),
    }
)
AROUND = f"""LEFT JOIN LATERAL (
    SELECT string_agg({ENTRY}, ',' ORDER BY near.metres, near.id) AS entries FROM (
        SELECT * FROM (
            SELECT r.id, r.name, r.kind, r.wikidata, r.source_id, {METRES} AS metres, {BEARING} AS bearing
            FROM catalogue_landmark AS r
            WHERE r.position <@ circle(restaurant.position, {context.DEFAULT_RADIUS_M} * {STRETCH})
                AND r.kind IN ({", ".join(f"'{kind}'" for kind in context.KINDS)})
        ) AS candidate
        WHERE candidate.metres <= {context.DEFAULT_RADIUS_M}
        ORDER BY candidate.metres, candidate.id LIMIT {context.MAX_ENTRIES}
    ) AS near
) AS around ON true"""  # noqa: S608  # of constants
CONTEXT_RECORD = f"""CASE WHEN around.entries IS NULL THEN 'null' ELSE
    concat('{{"neighborhood":', {json_nullable("restaurant.neighborhood")},
        ',"entries":[', around.entries, ']}}') END"""
CONTEXT = Group(
    **describe_rows(
        Field("context", CONTEXT_RECORD, "object or null"),
        Column("context", f"nullif({CONTEXT_RECORD}, 'null')", "string or null", "JSON: what a walk reaches."),
    ),
    joins=AROUND,
    # The former position of a moved or deleted landmark is unknown, so any change affects all restaurants. It is rare.
    changed="""EXISTS (SELECT FROM catalogue_landmark WHERE updated_at >= %(since)s::timestamptz)
    OR EXISTS (SELECT FROM catalogue_removal WHERE dataset = 'landmarks' AND at >= %(since)s::timestamptz)""",
    versions=(
        "(SELECT landmark.xmin FROM catalogue_landmark AS landmark ORDER BY age(landmark.xmin) LIMIT 1)",
        """(SELECT gone.xmin FROM catalogue_removal AS gone WHERE gone.dataset = 'landmarks'
            ORDER BY age(gone.xmin) LIMIT 1)""",
    ),
)


# The same rules as catalogue.field_groups.insights.
REASON = f"""CASE
    WHEN insight.hidden THEN '{insights.WITHHELD}'
    WHEN restaurant.review_count < {MIN_REVIEWS} THEN '{insights.TOO_FEW_REVIEWS}'
    WHEN insight.text <> '' THEN CASE WHEN insight.is_waiting THEN '{insights.AWAITING_APPROVAL}' END
    WHEN insight.restaurant_id IS NULL OR insight.failed_at IS NOT NULL THEN '{insights.NOT_WRITTEN_YET}'
    WHEN insight.review_count < {MIN_REVIEWS} THEN '{insights.TOO_FEW_REVIEWS}'
    ELSE '{insights.NOTHING_TO_SAY}'
END"""
TEXT = f"CASE WHEN {REASON} IS NULL THEN insight.text END"
DETAIL = f"""CASE WHEN {REASON} IS NULL THEN (
    jsonb_build_object('summary', insight.text, 'languages', jsonb_build_object())
    || insight.detail
    || jsonb_build_object(
        'review_count', insight.review_count, 'reviews_through', api_timestamp(insight.reviews_through),
        'generated_at', api_timestamp(insight.generated_at), 'model', concat_ws(
            ' ', nullif(insight.provider, ''), nullif(insight.provider_version, ''), nullif(insight.model, '')),
        'stale', insight.stale
    )
)::text END"""
INSIGHT_COLUMNS = (
    *("restaurant_id", "text", "detail", "provider", "provider_version", "model", "review_count", "reviews_through"),
    *("generated_at", "failed_at", "hidden"),
)


def insight_group(export: Export) -> Group:
    """The AI insight.

    Whether it is stale is judged at the time of the request or restart, so that all parts agree.
    """
    since = export.since_export
    return Group(
        **describe_rows(
            *value("ai_insight", TEXT, "string or null", "What the reviews say."),
            Field("ai_insight_detail", f"coalesce({DETAIL}, 'null')", "object or null"),
            Column("ai_insight_detail", DETAIL, "string or null", "JSON: what each claim rests on."),
            *value("ai_insight_reason", REASON, "string or null", "Why there is none."),
        ),
        joins=f"LEFT JOIN ({_insights(export.requested_at)}) AS insight ON insight.restaurant_id = restaurant.id",
        changed=f"""restaurant.id IN (
    SELECT restaurant_id FROM catalogue_insight WHERE updated_at >= %(since)s::timestamptz
    OR generated_at BETWEEN '{since.requested_at - MAX_AGE}' AND '{export.requested_at - MAX_AGE}'
)"""  # noqa: S608  # moments
        if since
        else None,
        versions=("(SELECT own.xmin FROM catalogue_insight AS own WHERE own.restaurant_id = restaurant.id)",),
    )


def _insights(moment: datetime) -> str:
    """Return the SELECT of all insights, with whether each is stale and whether it awaits approval."""
    rows = Insight.objects.order_by().values(
        *INSIGHT_COLUMNS,
        stale=_flag(stale_condition(get_provider(), now=moment, restaurant="restaurant__")),
        is_waiting=_flag(approval.pending_approval()),
    )
    connection.ensure_connection()
    statement = psycopg.ClientCursor(connection.connection).mogrify(*rows.query.sql_with_params())
    # The values are in it already.
    return statement.replace("%", "%%")


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(True)), default=Value(False))
