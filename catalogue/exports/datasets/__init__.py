"""What can be exported: for each dataset its rows in SQL, as lines of JSON and as flat columns."""

from collections.abc import Mapping, Sequence

from catalogue.exports.datasets import groups, history, landmarks, photos, restaurants, reviews
from catalogue.exports.datasets.base import Column, Dataset
from catalogue.models import Export

__all__ = ["CORE", "DATASETS", "GROUPS", "Column", "Dataset", "of", "refused_filter", "refused_group"]

DATASETS: Mapping[str, Dataset] = {
    Export.Dataset.RESTAURANTS: restaurants.DATASET,
    Export.Dataset.REVIEWS: reviews.DATASET,
    Export.Dataset.PHOTOS: photos.DATASET,
    Export.Dataset.LANDMARKS: landmarks.DATASET,
    Export.Dataset.HISTORY: history.DATASET,
}
# What `fields` of an export may name; the free fields are always there.
CORE, REVIEWS, CONTEXT, INSIGHT = "core", "reviews", "context", "ai_insight"
GROUPS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(DATASETS, (CORE,)),
    Export.Dataset.RESTAURANTS: (CORE, REVIEWS, CONTEXT, INSIGHT),
}
# Groups of a record that have very many rows a restaurant.
OF_THEIR_OWN: Mapping[str, str] = {
    "photos": Export.Dataset.PHOTOS,
    "history": Export.Dataset.HISTORY,
}


def of(export: Export) -> Dataset:
    """The dataset that an export is of, with its field groups: all rows, or of a delta what has changed."""
    dataset = DATASETS[export.dataset]
    if export.dataset == Export.Dataset.RESTAURANTS:
        # In one order, whatever order they were asked for in.
        if REVIEWS in export.fields:
            dataset = groups.added(dataset, groups.REVIEWS)
        if CONTEXT in export.fields:
            dataset = groups.added(dataset, groups.CONTEXT)
        if INSIGHT in export.fields:
            dataset = groups.added(dataset, groups.written(export))
    return dataset.told(is_delta=export.since_export_id is not None)


def refused_group(dataset: str, group: str) -> str | None:
    """Why an export of this dataset cannot have a field group; None where it can."""
    if group in GROUPS[dataset]:
        return None
    if dataset != Export.Dataset.RESTAURANTS:
        return f"Field groups are of restaurants: an export of {dataset} has all its fields."
    return of_its_own(group) or f"`{group}` is no field group: there are {', '.join(GROUPS[dataset])}."


def of_its_own(group: str) -> str | None:
    """What to order in place of a field group that is a dataset; None for any other."""
    if group not in OF_THEIR_OWN:
        return None
    return f"`{group}` is a dataset of its own: order an export of {OF_THEIR_OWN[group]}."


def refused_filter(dataset: str, name: str) -> str | None:
    """Why an export of this dataset cannot be filtered so; None where it can."""
    if name in DATASETS[dataset].filters:
        return None
    return f"An export of {dataset} cannot be filtered by {name}."
