"""Landmarks of Wikidata: new ones, those of the own table, and broken lines."""

import codecs
from pathlib import Path

import pytest

from catalogue.importers.row_errors import UnreadableFileError
from catalogue.models import Landmark, LandmarkName
from tests.catalogue.importers.import_runs import counts, import_landmarks, landmarks_csv, rejected

DAVID = "Q536499,David Collection,museum,55.68429,12.58225"


@pytest.fixture
def _markets(stored_reference_data: None, db: None) -> None:
    """The markets and the landmarks of our own."""


pytestmark = pytest.mark.usefixtures("_markets")


def names(landmark: Landmark) -> set[str]:
    return set(LandmarkName.objects.filter(landmark=landmark).values_list("name", flat=True))


@pytest.mark.exhaustive
def test_a_new_landmark_is_found_by_its_name_and_lies_in_its_market(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", DAVID, "Q3329659,Ōtsuka Museum of Art,museum,34.2324,134.638")
    assert counts(import_landmarks(file)) == {"created": 2}
    david = Landmark.objects.get(wikidata="Q536499")
    assert (david.name, david.kind, david.market_id, david.source_id) == (
        "David Collection", "museum", "copenhagen", "wikidata",
    )  # fmt: skip
    assert (david.latitude, david.longitude, david.prominence) == (55.68429, 12.58225, 0)
    assert names(david) == {"David Collection"}
    assert Landmark.objects.get(wikidata="Q3329659").market is None


@pytest.mark.exhaustive
def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", DAVID, "Q243,Eiffel Tower,attraction,48.8584,2.2945")
    import_landmarks(file)
    before = set(Landmark.objects.values_list("pk", "name", "wikidata", "source"))
    assert counts(import_landmarks(file)) == {"unchanged": 2}
    assert set(Landmark.objects.values_list("pk", "name", "wikidata", "source")) == before


@pytest.mark.exhaustive
def test_a_renamed_landmark_keeps_its_old_name_too(tmp_path: Path) -> None:
    import_landmarks(landmarks_csv(tmp_path / "a.csv", DAVID))
    totals = import_landmarks(landmarks_csv(tmp_path / "b.csv", "Q536499,Davids Samling,museum,55.6843,12.5822"))
    assert counts(totals) == {"changed": 1}
    david = Landmark.objects.get(wikidata="Q536499")
    assert (david.name, david.latitude) == ("Davids Samling", 55.6843)
    assert names(david) == {"David Collection", "Davids Samling"}


@pytest.mark.exhaustive
def test_an_item_of_the_own_table_gets_its_name_and_no_second_landmark(tmp_path: Path) -> None:
    own = Landmark.objects.get(wikidata="Q3022270")
    file = landmarks_csv(tmp_path / "a.csv", "Q3022270,The Free Exhibition,museum,55.7,12.6")
    assert counts(import_landmarks(file)) == {"changed": 1}
    assert counts(import_landmarks(file)) == {"unchanged": 1}
    again = Landmark.objects.get(wikidata="Q3022270")
    assert (again.pk, again.name, again.latitude, again.source_id) == (own.pk, own.name, own.latitude, "tablewire")
    assert names(own) == {"Den Frie", "Den Frie Udstilling", "Den Frie Udstillingsbygning", "The Free Exhibition"}


@pytest.mark.exhaustive
def test_the_same_name_within_150_m_is_the_own_landmark(tmp_path: Path) -> None:
    own = Landmark.objects.get(name="Tivoli Gardens")
    near = f"Q1,TIVOLI HAVE,attraction,{own.latitude + 0.0013},{own.longitude}"
    far = f"Q2,Tivoli,attraction,{own.latitude + 0.0015},{own.longitude}"
    assert counts(import_landmarks(landmarks_csv(tmp_path / "a.csv", near, far))) == {"created": 1, "unchanged": 1}
    assert not Landmark.objects.filter(wikidata="Q1").exists()
    assert Landmark.objects.get(wikidata="Q2").name == "Tivoli"


@pytest.mark.exhaustive
def test_a_market_takes_its_own_landmarks_only(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", DAVID, "Q3329659,Ōtsuka Museum of Art,museum,34.2324,134.638")
    assert counts(import_landmarks(file, market="copenhagen")) == {"created": 1, "skipped": 1}


@pytest.mark.exhaustive
def test_broken_lines_are_refused_with_the_reason(tmp_path: Path) -> None:
    file = landmarks_csv(
        tmp_path / "a.csv",
        "12,No id,museum,55.6,12.5",
        "Q10,,museum,55.6,12.5",
        "Q11,Odd,volcano,55.6,12.5",
        "Q12,Nowhere,museum,north,12.5",
        "Q13,Pole,museum,90,12.5",
        "Q14,Short,museum",
        "Q15,Long,museum,55.6,12.5,extra",
        DAVID,
        DAVID,
    )
    assert counts(import_landmarks(file)) == {"created": 1, "rejected": 8}
    kinds = ", ".join(
        sorted(
            [
                "attraction",
                "gallery",
                "garden",
                "guest_house",
                "hostel",
                "monument",
                "skyscraper",
                "station",
                *Landmark.Kind.values,
            ]
        )
    )
    assert [(line["number"], line["reason"]) for line in rejected(file)] == [
        (1, "qid: '12' is not a Wikidata id such as Q42."),
        (2, "name: this is required."),
        (3, f"kind: 'volcano' is none of {kinds}."),
        (4, "The coordinates are not two numbers."),
        (5, "Latitude 90.0, longitude 12.5 is not a place on our map."),
        (6, "The line has not as many fields as the header."),
        (7, "The line has not as many fields as the header."),
        (9, "Row 8 has Q536499 already."),
    ]


@pytest.mark.exhaustive
def test_bytes_that_are_no_utf_8_cost_their_line_only(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(f"qid,name,kind,latitude,longitude\nQ1,Mus\xe9e,museum,55.6,12.5\n{DAVID}\n".encode("latin-1"))
    assert counts(import_landmarks(file)) == {"created": 1, "rejected": 1}


@pytest.mark.exhaustive
def test_a_csv_of_something_else_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("qid,label\nQ1,x\n")
    with pytest.raises(
        UnreadableFileError, match=r"^This is no CSV of landmarks: it has no column name, kind, latitude, "
    ):
        import_landmarks(file)


@pytest.mark.exhaustive
def test_a_field_without_an_end_costs_its_line_only(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", f"Q1,{'x' * 200_000},museum,55.6,12.5", DAVID)
    assert counts(import_landmarks(file)) == {"created": 1, "rejected": 1}
    assert rejected(file)[0]["reason"] == "The line is no CSV: field larger than field limit (131072)."


def test_a_name_of_two_lines_is_refused(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", 'Q1,"Den\nFrie",museum,55.6,12.5')
    assert counts(import_landmarks(file)) == {"rejected": 1}
    assert rejected(file)[0]["reason"] == "name: 'Den\\nFrie' holds a line break or another control character."


@pytest.mark.exhaustive
def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    file = landmarks_csv(tmp_path / "a.csv", DAVID)
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert counts(import_landmarks(file)) == {"created": 1}


@pytest.mark.exhaustive
def test_a_landmark_without_a_wikidata_id_is_known_by_its_name_and_place(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("name,kind,latitude,longitude\nTinghus Theatre,theatre,55.6812,12.5801\n")
    assert counts(import_landmarks(file)) == {"created": 1}
    assert Landmark.objects.get(name="Tinghus Theatre").wikidata is None
    assert counts(import_landmarks(file)) == {"unchanged": 1}
    file.write_text("qid,name,kind,latitude,longitude\n,Tinghus Theatre,museum,55.6813,12.5801\n")
    assert counts(import_landmarks(file)) == {"changed": 1}
    landmark = Landmark.objects.get(name="Tinghus Theatre")
    assert (landmark.kind, landmark.latitude) == ("museum", 55.6813)


@pytest.mark.exhaustive
def test_aliases_are_names_too(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    header = "qid,name,aliases,kind,latitude,longitude\n"
    file.write_text(f"{header}Q536499,David Collection,Davids Samling| C. L. David,museum,55.68429,12.58225\n")
    assert counts(import_landmarks(file)) == {"created": 1}
    landmark = Landmark.objects.get(wikidata="Q536499")
    assert names(landmark) == {"David Collection", "Davids Samling", "C. L. David"}
    assert counts(import_landmarks(file)) == {"unchanged": 1}
