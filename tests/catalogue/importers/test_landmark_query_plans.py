"""How the landmarks of our own are searched for those of a file."""

from pathlib import Path

import pytest

from catalogue import reference_data
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import counts, import_landmarks, landmarks_csv
from tests.catalogue.query_plans import planned, unseen


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_own_landmarks_are_searched_once_per_line_before_the_table_is_analyzed(
    tmp_path: Path,
) -> None:
    reference_data.load_dictionaries()
    with unseen():
        for number in range(40):
            builders.landmark(f"Fountain {number}", at=(55.6 + number / 100, 12.5))
    file = landmarks_csv(
        tmp_path / "a.csv", *(f"Q{n + 1},Fountain {n},monument,{55.6 + n / 100},12.5" for n in range(40))
    )

    with planned("AS wanted (number, name") as parts:
        totals = import_landmarks(file)

    assert counts(totals) == {"unchanged": 40}
    assert {one["Actual Loops"] for one in parts if one.get("Relation Name") == "catalogue_landmark"} == {40}
