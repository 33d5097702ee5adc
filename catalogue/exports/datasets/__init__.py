"""What can be exported: for each dataset its rows in SQL, as lines of JSON and as flat columns."""

from collections.abc import Mapping

from catalogue.exports.datasets import restaurants, reviews
from catalogue.exports.datasets.dataset import Column, Dataset
from catalogue.models import Export

__all__ = ["DATASETS", "Column", "Dataset", "of"]

DATASETS: Mapping[str, Dataset] = {
    Export.Dataset.RESTAURANTS: restaurants.DATASET,
    Export.Dataset.REVIEWS: reviews.DATASET,
}


def of(export: Export) -> Dataset:
    """The dataset that an export is of."""
    return DATASETS[export.dataset]
