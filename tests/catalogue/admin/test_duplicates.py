"""The staff queue of pairs that may be one place: likeliest first, decided once, by those who may."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client

import tests.support.builders
from accounts.models import User
from catalogue.matching import duplicate_review
from catalogue.models import MatchCandidate, Restaurant, SourceRecord, Version
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db

LIST = "/admin/catalogue/matchcandidate/"


def candidate(score: float = 0.8, **fields: object) -> MatchCandidate:
    """Two restaurants of about the same name, the second with more reviews."""
    one = builders.restaurant(name="Café Noma", line1="Gade 1", phone="+4532155656")
    two = builders.restaurant(name="Noma", line1="Gade 1", review_count=5, **fields)
    first, second = sorted((one, two), key=lambda each: each.pk)
    reasons = {"name": 0.9, "address": 1.0, "phone": None, "distance_m": 12}
    return MatchCandidate.objects.create(first=first, second=second, score=score, reasons=reasons, found_at=NOW)


def act(staff: Client, action: str, *found: MatchCandidate, **more: str) -> str:
    chosen = {"action": action, "_selected_action": [str(each.pk) for each in found], **more}
    return staff.post(LIST, chosen, follow=True).content.decode()


def test_the_likeliest_pair_is_first_with_what_is_alike() -> None:
    staff = tests.support.builders.staff()
    candidate(0.5), candidate(0.9)
    MatchCandidate.objects.filter(pk=candidate(0.99).pk).update(state="distinct")
    page = staff.get(LIST).content.decode()
    assert page.index("0.9") < page.index("0.5")
    assert "0.99" not in page
    assert "0.99" in staff.get(LIST, {"state__exact": "distinct"}).content.decode()
    assert "name 90%, address 100%, 12 m apart" in page


def test_both_places_stand_side_by_side() -> None:
    page = tests.support.builders.staff().get(f"{LIST}{candidate().pk}/change/").content.decode()
    assert "<b>Café Noma</b>" in page
    assert "<b>Noma</b>" in page
    assert "<td>Gade 1</td><td>Gade 1</td>" in page
    assert page.count("<br>kept") == page.count("<br>merged") == 1


@pytest.mark.exhaustive
def test_the_same_place_becomes_the_one_with_more_reviews() -> None:
    staff, pair = tests.support.builders.staff(), candidate()
    record = builders.listed(Restaurant.objects.get(name="Café Noma"))
    response = act(staff, "same_place", pair)
    assert response.index("Noma (") < response.index("Café Noma (")
    assert Restaurant.objects.filter(merged_into=None).count() == 2
    assert "1 pairs were merged." in act(staff, "same_place", pair, confirmed="yes")
    survivor, loser = Restaurant.objects.get(name="Noma"), Restaurant.objects.get(name="Café Noma")
    assert (loser.merged_into_id, survivor.phone) == (survivor.pk, "+4532155656")
    assert SourceRecord.objects.get(pk=record.pk).restaurant_id == survivor.pk
    pair.refresh_from_db()
    assert (pair.state, pair.decided_by_id) == ("merged", int(staff.session["_auth_user_id"]))
    assert Version.objects.filter(kind="merged", actor=f"staff:{pair.decided_by_id}").count() == 1


def test_two_places_stay_two() -> None:
    staff, pair = tests.support.builders.staff(), candidate()
    assert "1 pairs were kept as different restaurants." in act(staff, "two_places", pair, confirmed="yes")
    pair.refresh_from_db()
    assert (pair.state, Restaurant.objects.filter(merged_into=None).count()) == ("distinct", 2)
    assert "Somebody has decided this pair already." not in act(staff, "two_places", confirmed="yes")


def test_who_may_only_look_decides_nothing() -> None:
    pair, staff = candidate(), Client()
    user = User.objects.create_user("looker@example.com", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_matchcandidate"))
    staff.force_login(user)
    act(staff, "same_place", pair)
    pair.refresh_from_db()
    assert pair.state == "open"
    assert staff.get(LIST).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_wins() -> None:
    pair = candidate()
    users = [User.objects.create_superuser(f"staff{number}@example.com").pk for number in range(2)]
    barrier = Barrier(2)

    def decide(by: int, *, same: bool) -> str:
        mine = MatchCandidate.objects.select_related("first", "second").get(pk=pair.pk)
        try:
            barrier.wait()
            if same:
                duplicate_review.merge_pair(mine, by=by, now=NOW)
            else:
                duplicate_review.mark_distinct(mine, by=by, now=NOW)
        except duplicate_review.PairAlreadyDecided as refusal:
            return refusal.message
        else:
            return "mine"
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        text = [threads.submit(decide, by, same=number == 0) for number, by in enumerate(users)]
        answers = [each.result() for each in text]
    assert sorted(answers) == ["Somebody has decided this pair already.", "mine"]
    pair.refresh_from_db()
    merged = Restaurant.objects.exclude(merged_into=None).count()
    assert (pair.state, merged) == (("merged", 1) if answers[0] == "mine" else ("distinct", 0))
