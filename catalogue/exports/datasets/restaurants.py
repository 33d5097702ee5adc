"""Restaurants: the core fields, as the database renders them."""

from pathlib import Path

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, Dataset, select_removed, visible_condition
from catalogue.exports.datasets.fields import Column
from framework.data_files import read_toml

_CONTENT = read_toml(Path(__file__).with_suffix(".toml"))
MATCHES = visible_condition("restaurant.updated_at")

DATASET = Dataset(
    key="restaurant.id",
    key_type="uuid",
    rows="""catalogue_restaurant AS restaurant
JOIN catalogue_record AS held ON held.restaurant_id = restaurant.id""",
    matches=MATCHES,
    # The record's timestamp changes with everything it shows, and is the database's; the restaurant's is its writer's.
    changed=f"""held.updated_at >= %(since)s::timestamptz
    OR restaurant.id IN (SELECT restaurant_id FROM ({CHANGED_RESTAURANTS}) AS moved)""",  # noqa: S608  # of constants
    record="""'{' || held.before || ',"hours":{' || held.hours || '},' || held.after || '}'""",
    schema=_CONTENT["schema"],
    columns=tuple(Column(name, **column) for name, column in _CONTENT["columns"].items()),
    sources="held.sources",
    versions=("restaurant.xmin", "held.xmin"),
    removed=select_removed(
        "restaurants",
        f"""SELECT public_id('rst', restaurant.id), moved.at
        FROM ({CHANGED_RESTAURANTS}) AS moved
        JOIN catalogue_restaurant AS restaurant ON restaurant.id = moved.restaurant_id
        WHERE ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
)
