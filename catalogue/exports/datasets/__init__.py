"""The datasets that can be exported: the SQL of their rows as JSON lines and as flat columns."""

from collections.abc import Mapping, Sequence

from catalogue.exports.datasets import groups, history, landmarks, menus, photos, restaurants, reviews
from catalogue.exports.datasets.base import Dataset
from catalogue.exports.datasets.fields import Column
from catalogue.models import Export

DATASETS: Mapping[str, Dataset] = {
    Export.Dataset.RESTAURANTS: restaurants.DATASET,
    Export.Dataset.REVIEWS: reviews.DATASET,
    Export.Dataset.PHOTOS: photos.DATASET,
    Export.Dataset.LANDMARKS: landmarks.DATASET,
    Export.Dataset.HISTORY: history.DATASET,
    Export.Dataset.MENUS: menus.DATASET,
}
# The values of `fields`; the core fields are always exported.
CORE, REVIEWS, CONTEXT, INSIGHT = "core", "reviews", "context", "ai_insight"
GROUPS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(DATASETS, (CORE,)),
    Export.Dataset.RESTAURANTS: (CORE, REVIEWS, CONTEXT, INSIGHT),
}
# Field groups of a record with many rows per restaurant, and their datasets.
GROUP_DATASETS: Mapping[str, str] = {
    "photos": Export.Dataset.PHOTOS,
    "history": Export.Dataset.HISTORY,
    "menu": Export.Dataset.MENUS,
}


def get_dataset(export: Export) -> Dataset:
    """Return the dataset of an export with its field groups: all rows, or the changed ones of a delta."""
    dataset = DATASETS[export.dataset]
    if export.dataset == Export.Dataset.RESTAURANTS:
        if REVIEWS in export.fields:
            dataset = groups.add_group(dataset, groups.REVIEWS)
        if CONTEXT in export.fields:
            dataset = groups.add_group(dataset, groups.CONTEXT)
        if INSIGHT in export.fields:
            dataset = groups.add_group(dataset, groups.insight_group(export))
    return dataset.for_export(is_delta=export.since_export_id is not None)


def find_group_error(dataset: str, group: str) -> str | None:
    """Return why an export of this dataset cannot have a field group, or None."""
    if group in GROUPS[dataset]:
        return None
    if dataset != Export.Dataset.RESTAURANTS:
        return f"Field groups are of restaurants: an export of {dataset} has all its fields."
    return find_dataset_hint(group) or f"`{group}` is no field group: there are {', '.join(GROUPS[dataset])}."


def find_dataset_hint(group: str) -> str | None:
    """Return the hint to order a dataset in place of a field group, or None."""
    if group not in GROUP_DATASETS:
        return None
    return f"`{group}` is a dataset of its own: order an export of {GROUP_DATASETS[group]}."


def find_filter_error(dataset: str, name: str) -> str | None:
    """Return why an export of this dataset cannot have a filter, or None."""
    if name in DATASETS[dataset].filters:
        return None
    return f"An export of {dataset} cannot be filtered by {name}."
