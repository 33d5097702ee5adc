"""`manage.py insights`: what it writes, why, what it checks, and what it says."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from catalogue import insights
from catalogue.management.commands import insights as command
from catalogue.models import Insight, InsightDemand, Restaurant, Review
from catalogue.reviews import aggregates
from framework.public_ids import decode, encode
from tests.catalogue import builders
from tests.catalogue.insights.fake_llm import FakeLLM

WORDS = "The tonkotsu ramen was delicious and the staff were kind."


def run(*words: str) -> str:
    out = StringIO()
    call_command("insights", *words, stdout=out, stderr=StringIO())
    return re.sub(r", \d+\.\d s$", "", out.getvalue().strip())


def reviewed(reviews: int = 5, **fields: object) -> Restaurant:
    place = builders.restaurant(**fields)
    for _ in range(reviews):
        builders.review(place, WORDS, stars=5)
    return place


def rows() -> list[object]:
    return list(Insight.objects.order_by("pk").values_list("pk", "text", "detail", "generated_at", "input_hash"))


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_it_writes_what_is_due_and_a_second_run_writes_nothing_and_says_so() -> None:
    for _ in range(3):
        reviewed()
    reviewed(4)
    assert run() == "insights: 3 written, none is due"
    before = rows()
    assert run() == "insights: nothing is due, nothing written"
    assert rows() == before


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_limit_leaves_the_others_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalogue.insights.pipeline.batch_job.BATCH_REVIEWS", 5)
    monkeypatch.setattr(command, "SLICE", 5)
    for _ in range(4):
        reviewed()
    assert run("--limit", "3") == "insights: 3 written, 1 still due"
    assert run("--limit", "3") == "insights: 1 written, none is due"


@pytest.mark.django_db
def test_one_restaurant_is_written_alone_and_only_when_it_is_due() -> None:
    place, other = reviewed(), reviewed()
    assert run("--restaurant", place.slug) == f"insights: that of {place.slug} is written"
    assert list(Insight.objects.values_list("pk", flat=True)) == [place.pk]
    assert run("--restaurant", place.slug) == f"insights: that of {place.slug} is not due, nothing written"
    assert insights.due_restaurants(now=timezone.now()).get() == other


@pytest.mark.django_db
def test_a_restaurant_with_many_reviews_is_written_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalogue.insights.pipeline.refresh.MAX_SYNC_REVIEWS", 4)
    place, _ = reviewed(), reviewed(9)
    assert run("--restaurant", place.slug) == f"insights: that of {place.slug} is written"
    assert list(Insight.objects.values_list("pk", flat=True)) == [place.pk]


@pytest.mark.django_db
@pytest.mark.parametrize("words", [["--restaurant", "nowhere"], ["--limit", "0"], ["--limit", "x"]])
def test_invalid_options_are_rejected(words: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*words)


@pytest.mark.django_db
@pytest.mark.parametrize("mode", ["--dry-run", "--stats", "--languages"])
def test_options_that_do_not_go_together_are_refused(mode: str) -> None:
    place = reviewed()
    with pytest.raises(CommandError, match=r"--restaurant goes alone or with --check\."):
        run("--restaurant", place.slug, mode)
    for other in ((mode,), ("--check",), ("--restaurant", place.slug)):
        with pytest.raises(CommandError, match=r"--limit goes alone\."):
            run("--limit", "1", *other)
    assert not Insight.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_option_restaurant_calls_the_model_for_that_restaurant_only(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [reviewed() for _ in range(5)]
    for other in others:
        insights.queue_request(other.pk, now=timezone.now())
    place, model = reviewed(), FakeLLM()
    monkeypatch.setattr("catalogue.insights.pipeline.refresh.get_provider", lambda: model)
    assert run("--restaurant", place.slug) == f"insights: that of {place.slug} is written"
    assert model.requests == [place.name]
    assert list(Insight.objects.values_list("pk", "provider")) == [(place.pk, "anthropic")]
    assert InsightDemand.objects.count() == 5


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_dry_run_says_why_each_is_due_and_writes_nothing() -> None:
    places = [reviewed(rating="4.0") for _ in range(8)]
    run()
    now = timezone.now()
    Restaurant.objects.filter(pk=places[0].pk).update(review_count=6)
    Restaurant.objects.filter(pk=places[1].pk).update(rating="4.5")
    Insight.objects.filter(pk=places[2].pk).update(generated_at=now - timedelta(days=91))
    Insight.objects.filter(pk=places[3].pk).update(provider_version="0")
    Insight.objects.filter(pk=places[4].pk).update(failed_at=now - timedelta(days=2))
    builders.rule(places[5])
    reviewed()
    before = rows()
    output = run("--dry-run")
    result = dict(re.findall(r"│ ([a-z ]+?) +│ (\d+) +│", output))
    assert result == dict.fromkeys(("missing", "failed", "reviews", "rating", "input", "age", "provider"), "1")
    assert output.endswith("insights: 7 are due")
    assert rows() == before
    run()
    assert run("--dry-run") == "insights: nothing is due"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_citation_of_what_it_wrote_holds() -> None:
    reviewed()
    reviewed(12)
    run()
    assert run("--check") == "insights: each citation holds"


@pytest.mark.sample(2)
@pytest.mark.django_db
@pytest.mark.parametrize("what", ["gone", "elsewhere", "reply_without_draft", "unreadable", "too many"])
def test_a_citation_that_does_not_hold_is_shown_and_ends_with_1(what: str) -> None:
    place, other = reviewed(), reviewed()
    run()
    insight = Insight.objects.get(pk=place.pk)
    (dish,) = insight.detail["dishes"]
    cited = Review.objects.get(pk=str(decode("rev", dish["citations"][0])))
    if what == "gone":
        cited.delete()
        wrong = "is no review"
    elif what == "elsewhere":
        dish["citations"][0] = encode("rev", Review.objects.filter(restaurant=other)[0].pk)
        wrong = "is a review of another restaurant"
    elif what == "reply_without_draft":
        Review.objects.filter(pk=cited.pk).update(text="The staff were kind.")
        wrong = "does not name it"
    elif what == "unreadable":
        dish["citations"][0] = "rev_x"
        wrong = "is no review"
    else:
        dish["mentions"] = 4
        wrong = "cites 5 of 4 reviews"
    insight.save()
    out = StringIO()
    with pytest.raises(CommandError, match="citations do not hold"):
        call_command("insights", "--check", stdout=out, stderr=StringIO())
    assert wrong in out.getvalue()
    assert place.slug in out.getvalue()
    assert other.slug not in out.getvalue()
    assert run("--check", "--restaurant", other.slug) == "insights: each citation holds"


@pytest.mark.django_db
def test_an_insight_that_is_not_served_for_want_of_reviews_is_not_checked() -> None:
    place = reviewed()
    run()
    for reviews in (Review.objects.none(), Review.objects.filter(restaurant=place)):
        reviews.delete()
        with transaction.atomic():
            aggregates.update_restaurants([place.pk])
    assert run("--check") == "insights: each citation holds"


@pytest.mark.django_db
def test_a_name_in_another_script_or_form_is_a_name_still() -> None:
    place = builders.restaurant()
    for text in ("豚骨ラーメンが絶品でした。", "The TONKOTSU RAMENS are great.", "Tonkotsu ramen, always."):
        for _ in range(2):
            builders.review(place, text, stars=5, lang="ja" if "ラ" in text else "en")
    run()
    (dish,) = Insight.objects.get().detail["dishes"]
    assert (dish["name"].lower(), dish["mentions"]) == ("tonkotsu ramen", 6)
    assert run("--check") == "insights: each citation holds"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_check_works_in_batches(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("catalogue.insights.guardrails.citation_audit.BATCH", 2)
    for _ in range(5):
        reviewed()
    run()
    # How many there are; three times two queries, and one that finds no more.
    with django_assert_num_queries(8):  # type: ignore[operator]
        assert run("--check") == "insights: each citation holds"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_statistics_by_provider_and_language() -> None:
    place = reviewed()
    builders.review(place, "Die Bedienung war sehr freundlich.", stars=5, lang="de")
    reviewed(5)
    run()
    insights.set_hidden(Insight.objects.filter(pk=place.pk), hidden=True)
    output = run("--stats")
    assert re.search(r"extractive +│ 7 +│ +│ 2 +│ 0 +│ 1 +│ 0 +│ 0 ", output)
    assert "Reviews behind them by language: en 10, de 1" in output


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_languages_are_filled_by_the_same_command() -> None:
    place = builders.restaurant()
    builders.review(place, "Wir hatten einen wunderbaren Abend und kommen gerne wieder.", lang="")
    builders.review(place, "Ok.", lang="")
    assert run("--languages") == "insights: 1 reviews have a language now, 1 are too short or unsure"
    assert sorted(place.reviews.values_list("lang", flat=True)) == ["", "de"]
