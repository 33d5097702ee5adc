"""Exports are split into parts by their keys."""

from pathlib import Path

import pytest
from pytest_django import Settings

from catalogue.exports import datasets
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.jobs import partitioning
from catalogue.models import Export
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.worker_processes import create_running, restaurant_with_reviews

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


def test_what_is_split_by_the_index_alone_is_split_alike() -> None:
    restaurant_with_reviews(13)
    dataset = datasets.DATASETS["reviews"]
    assert partitioning.TABLE.match(dataset.rows)
    plain, filtered = (
        list(create_running(rows_per_part=4, filter=wanted).parts.order_by("seq").values_list("seq", "lo", "hi"))
        for wanted in ({}, {"status": "open"})
    )
    assert (plain, len(plain)) == (filtered, 4)
    assert set(Export.objects.values_list("rows_total", flat=True)) == {13}
    assert query_parameters(Export.objects.all()[0])["since"] is None


@pytest.mark.sample(2)
@pytest.mark.parametrize(("count", "parts"), [(0, [0]), (1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1])])
def test_the_keys_are_split_so_that_each_row_is_in_one_part(count: int, parts: list[int]) -> None:
    for _ in range(count):
        builders.restaurant()
    export = export_builders.create_finished(rows_per_part=3)
    assert list(export.parts.order_by("seq").values_list("seq", "rows")) == list(enumerate(parts, start=1))
    assert (export.rows_total, export.rows, len(export_builders.read_rows(export))) == (count, count, count)
