"""The language of a review that nobody said, and what is read in each language."""

import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings

from catalogue import field_groups, insights
from catalogue.demo import vocabulary
from catalogue.insights.analysis.aspect_lexicon import LANGUAGES, load_lexicon
from catalogue.insights.analysis.dish_names import find_dishes
from catalogue.insights.analysis.review_analysis import find_dish_keys
from catalogue.insights.providers import extractive
from catalogue.insights.providers.base import Claim, Context, InsightDraft, ReviewInput, WatchOut
from catalogue.models import Review
from catalogue.reviews import language_detection
from framework.cli.progress import no_progress
from tests.catalogue import builders
from tests.catalogue.builders import NOW

HERE = Path(__file__).parent

# What is made of the reviews in handwritten.toml.
BY_HAND = {
    "Trattoria Bellini": (
        "No other dish comes up as often as the carbonara (6 of 25 reviews); others name the burrata (4)"
        " and the tiramisù. Most are happy with the food, the service and the value for money, but some"
        " complain of long waits (4 reviews) and cold dishes (2). Guests advise booking ahead for a weekend"
        " (2 reviews)."
    ),
    "Zum Goldenen Hahn": (
        "When guests name a dish, it is most often the Schnitzel (6 of 25 reviews); then come the"
        " Kaiserschmarrn (4) and the Schweinebraten. Most are happy with the food and the atmosphere, but"
        " some complain of high prices (2 reviews) and long waits (2)."
    ),
    "Chez Margaux": (
        "Reviews speak of the crème brûlée (3 of 25 reviews), the magret de canard (3) and the soupe à"
        " l'oignon. Most are happy with the service, but watch out for high prices (4 reviews) and cold"
        " dishes (2). Guests advise coming for lunch (2 reviews) and booking ahead for a weekend (2"
        " reviews)."
    ),
    "Bar La Lola": (
        "Reviews name the croquetas (7 of 25 reviews) more than any other dish; then come the tortilla de"
        " patatas (3) and the gambas al ajillo. Praise goes to the service and the atmosphere, but"
        " complaints are about long waits (4 reviews) and noise (4). Guests advise booking ahead for a"
        " weekend (2 reviews)."
    ),
    "Restaurant Havnen": (
        "Among the dishes that guests name are the stjerneskud (5 of 25 reviews), the smørrebrød (5) and"
        " the Fiskefrikadeller. Guests mention the view (3 of 25 reviews) more often than elsewhere."
        " Complaints are about high prices (4 reviews) and slow service (2). Guests advise coming for lunch"
        " (2 reviews)."
    ),
    "麺屋 ひかり": (
        "When guests name a dish, it is most often the gyoza (7 of 25 reviews), followed by the tonkotsu"
        " ramen (5) and the tsukemen. Most are happy with the food, the service and the atmosphere, but"
        " complaints are about long waits (3 reviews) and cold dishes (2). Guests advise coming early (2"
        " reviews) and coming for lunch (2 reviews)."
    ),
    "Smoke & Barrel": (
        "Reviews name the brisket (7 of 25 reviews) more than any other dish, then the burnt ends (4) and"
        " the mac and cheese. Watch out for noise (3 reviews) and forgotten orders (2). Guests advise"
        " coming early (2 reviews)."
    ),
    "Green Lantern": (
        "Guests name the pad thai (6 of 25 reviews) most; others name the mango sticky rice (3) and the"
        " green curry. Guests speak well of the service and the value for money, but watch out for cold"
        " dishes (2 reviews) and poor hygiene (2). Guests advise coming for lunch (2 reviews)."
    ),
}


def read(*rows: tuple[int, str], lang: str) -> InsightDraft:
    newest = datetime(2026, 11, 1, tzinfo=UTC)
    reviews = [
        ReviewInput(f"rev_{number}", stars, text, lang, newest - timedelta(days=number))
        for number, (stars, text) in enumerate(rows)
    ]
    return extractive.generate(
        Context(name="Kikuchi", rating=Decimal("4.0"), reviews=reviews, hours=None, discounts=())
    )


# Guessing
SENTENCES = {
    "en": "We came on a Tuesday and the kitchen sent out one lovely plate after another.",
    "de": "Das Essen kam schnell, und die Bedienung hat uns sehr gut beraten.",
    "fr": "Nous avons très bien mangé et le patron est venu discuter avec nous.",
    "es": "Nos atendieron de maravilla y la comida estaba buenísima.",
    "it": "Abbiamo mangiato benissimo e il personale è stato molto gentile.",
    "da": "Vi fik en rigtig god middag, og betjeningen var utrolig sød.",
    "ja": "料理はどれも美味しくて、店員さんもとても親切でした。",
    "zh": "这家店的菜味道很好。服务员也非常热情。",
    "nl": "We hebben heerlijk gegeten en het personeel was erg vriendelijk.",
    "pt": "A comida estava ótima e o atendimento foi muito simpático.",
    "sv": "Vi åt en fantastisk middag och personalen var mycket trevlig.",
    "pl": "Jedzenie było pyszne, a obsługa bardzo miła i pomocna.",
    "ca": "Vam menjar molt bé i el servei va ser molt amable amb nosaltres.",
    "ar": "كان الطعام لذيذا جدا والخدمة ممتازة وسنعود قريبا.",
    "ko": "음식이 정말 맛있었고 직원들도 아주 친절했습니다.",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("lang", sorted(SENTENCES))
def test_language_of_a_sentence_is_detected(lang: str) -> None:
    assert language_detection.detect_language(SENTENCES[lang]) == lang


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nice.",
        "Great food!",
        "Tiramisù!",
        "10/10",
        "麻婆豆腐",
        "!!!!!!!!!!!!!!!!!!!!!!!!",
        "https://a.example/the-best-of",
    ],
)
def test_language_of_a_short_text_is_unknown(text: str) -> None:
    assert language_detection.detect_language(text) == ""


@pytest.mark.exhaustive
def test_of_generated_sentences_nearly_none_is_taken_for_another_language() -> None:
    wrong = right = 0
    for code, language in vocabulary.languages().items():
        for opening in (one for mood in language.opening for one in mood):
            for service in (one for mood in language.service for one in mood):
                result = language_detection.detect_language(f"{opening}{language.space}{service}")
                right += result == code
                wrong += result not in {code, ""}
    assert right + wrong > 1_000
    assert wrong / right < 0.005


@pytest.mark.stack
def test_no_web_process_loads_the_model() -> None:
    program = (
        "import sys; import config.wsgi; from catalogue.importers.sources import native_jsonl;"
        " from catalogue.reviews import language_detection;"
        " print({'numpy', 'py3langid'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_missing_languages_are_filled_in_batches_and_a_second_run_changes_nothing() -> None:
    places = [builders.restaurant(), builders.restaurant()]
    for place in places:
        builders.review(place, SENTENCES["de"], lang="")
        builders.review(place, SENTENCES["fr"], lang="")
        builders.review(place, "Ok.", lang="")
        builders.review(place, SENTENCES["en"], lang="da")
        builders.review(place, "", lang="")
    assert language_detection.fill_missing(now=NOW, on_step=no_progress, batch=2) == language_detection.FillResult(
        detected=4, unknown=2
    )
    for place in places:
        place.refresh_from_db()
        assert sorted(place.reviews.values_list("lang", flat=True)) == ["", "", "da", "de", "fr"]
        assert place.review_facets["by_lang"] == {"da": 1, "de": 1, "fr": 1}
    before = list(Review.objects.order_by("pk").values_list("pk", "lang", "updated_at"))
    assert language_detection.fill_missing(now=NOW, on_step=no_progress, batch=2) == language_detection.FillResult(
        detected=0, unknown=2
    )
    assert list(Review.objects.order_by("pk").values_list("pk", "lang", "updated_at")) == before


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_what_staff_say_while_languages_are_filled_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    place = builders.restaurant()
    mended = builders.review(place, SENTENCES["de"], lang="")
    result = builders.review(place, SENTENCES["de"], lang="")
    guess = language_detection.detect_language

    def slowly(text: str) -> str:
        Review.objects.filter(pk=mended.pk).update(text=SENTENCES["it"])
        Review.objects.filter(pk=result.pk).update(lang="nl")
        return guess(text)

    monkeypatch.setattr(language_detection, "detect_language", slowly)
    assert language_detection.fill_missing(now=NOW, on_step=no_progress).detected == 0
    assert dict(Review.objects.values_list("pk", "lang")) == {mended.pk: "", result.pk: "nl"}


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_record_says_in_which_languages_guests_wrote() -> None:
    place = builders.restaurant()
    for lang in ("en", "en", "en", "de", "de"):
        builders.review(place, "The gyoza was great.", lang=lang)
    insights.refresh(now=NOW, max_reviews=10)
    detail = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW).values["ai_insight_detail"]
    assert detail["languages"] == {"en": 3, "de": 2}


@pytest.mark.django_db
def test_an_insight_of_before_languages_were_counted_has_none() -> None:
    place = builders.restaurant()
    builders.insight(place)
    place.review_count = 5
    place.save()
    detail = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW).values["ai_insight_detail"]
    assert detail["languages"] == {}


def test_languages_are_counted_where_there_are_words() -> None:
    when = datetime(2026, 11, 1, tzinfo=UTC)
    rows = [("en", "Good."), ("en", "Bad."), ("de", "Gut."), ("", "Hm."), ("", "")]
    reviews = [ReviewInput(str(number), 5, text, lang, when) for number, (lang, text) in enumerate(rows)]
    context = Context(name="", rating=None, reviews=reviews, hours=None, discounts=())
    assert context.languages == {"en": 2, "de": 1, "unknown": 1}


# Reading
@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_each_language_has_words_for_the_same_things(lang: str) -> None:
    known, english = load_lexicon(lang), load_lexicon()
    assert set(known.aspects) == set(english.aspects)
    assert set(known.watch_outs) == set(english.watch_outs)
    assert set(known.times) == set(english.times)


@pytest.mark.parametrize(
    ("lang", "sentence", "complaint"),
    [
        ("de", "Wir haben vierzig Minuten auf die Bestellung gewartet.", "long waits"),
        ("de", "Die Rechnung stimmte nicht.", "mistakes on the bill"),
        ("de", "Ab acht Uhr wird es sehr laut.", "noise"),
        ("fr", "Quarante minutes d'attente avant la commande.", "long waits"),
        ("fr", "Serveur désagréable.", "unfriendly staff"),
        ("fr", "Notre réservation avait été perdue.", "lost bookings"),
        ("es", "Cuarenta minutos hasta que nos tomaron nota.", "long waits"),
        ("es", "La cuenta venía mal.", "mistakes on the bill"),
        ("es", "Las mesas están muy juntas.", "tables close together"),
        ("it", "Quaranta minuti prima di ordinare.", "long waits"),
        ("it", "Dopo le otto diventa rumoroso.", "noise"),
        ("it", "Un po' caro per quello che offre.", "high prices"),
        ("da", "Vi ventede fyrre minutter på at bestille.", "long waits"),
        ("da", "Der var fejl i regningen.", "mistakes on the bill"),
        ("da", "Bordene står tæt.", "tables close together"),
        ("ja", "注文まで四十分待ちました。", "long waits"),
        ("ja", "予約が通っていませんでした。", "lost bookings"),
        ("ja", "席の間隔が狭めです。", "tables close together"),
        ("en", "Our waiter was rude.", "unfriendly staff"),
        ("en", "The table was sticky and nobody seemed to care.", "poor hygiene"),
        ("en", "I found a long hair in the curry.", "insects or hair"),
        ("en", "The fish was not fresh.", "stale food"),
        ("en", "The chicken was raw inside.", "undercooked food"),
        ("en", "The meat was dry and rubbery.", "overcooked food"),
        ("en", "There was no taste in the curry.", "bland food"),
        ("en", "The quality of the food is poor.", "disappointing food"),
        ("en", "Too much oil in the curry.", "oily or salty food"),
        ("en", "Worst service I have ever had.", "poor service"),
        ("en", "Half of the menu was not available.", "dishes not available"),
        ("en", "Parking is a nightmare.", "difficult parking"),
        ("en", "It took them more than half an hour to bring the starters.", "long waits"),
        ("de", "Das Fleisch war innen noch roh.", "undercooked food"),
        ("de", "Der Fisch war nicht frisch.", "stale food"),
        ("fr", "Il y avait un cheveu dans la soupe.", "insects or hair"),
        ("fr", "Le poisson était trop cuit.", "overcooked food"),
        ("es", "Un servicio pésimo.", "poor service"),
        ("it", "Tutto era insipido.", "bland food"),
        ("da", "Alt var udsolgt.", "dishes not available"),
        ("ja", "髪の毛が入っていました。", "insects or hair"),
    ],
)
def test_a_complaint_in_any_language_has_our_words(lang: str, sentence: str, complaint: str) -> None:
    assert [each.text for each in read(*[(2, sentence)] * 3, lang=lang).watch_outs] == [complaint]


@pytest.mark.parametrize(
    ("lang", "sentence"),
    [
        ("de", "Es war überhaupt nicht laut."),
        ("de", "Der Service war nie langsam."),
        ("fr", "Ce n'est pas bruyant du tout."),
        ("es", "No es nada caro."),
        ("it", "Non è mai rumoroso."),
        ("da", "Det var ikke dyrt."),
        ("ja", "値段は高くないです。"),
    ],
)
def test_a_complaint_that_is_denied_in_another_language_is_none(lang: str, sentence: str) -> None:
    assert read(*[(2, sentence)] * 3, lang=lang).watch_outs == ()


@pytest.mark.parametrize(
    ("lang", "sentence", "pleased"),
    [
        ("de", "Das Essen war hervorragend.", True),
        ("de", "Das Essen war nicht gut.", False),
        ("fr", "La cuisine est délicieuse.", True),
        ("fr", "La cuisine n'est pas bonne.", False),
        ("es", "La comida estaba buenísima.", True),
        ("es", "La comida estaba fría.", False),
        ("it", "Il cibo era ottimo.", True),
        ("it", "Il cibo non era buono.", False),
        ("da", "Maden var fremragende.", True),
        ("da", "Maden var ikke god.", False),
        ("ja", "料理が美味しかったです。", True),
        ("ja", "料理が冷めていました。", False),
    ],
)
def test_words_tell_the_mood_beside_the_stars_in_each_language(lang: str, sentence: str, pleased: bool) -> None:
    (food,) = read(*[(3, sentence)] * 3, lang=lang).aspects
    assert (food.name, food.positive) == ("food", 3 if pleased else 0)


def test_one_sentence_may_praise_one_thing_and_complain_of_another() -> None:
    draft = read(*[(3, "Great croquetas, slow service, but the terrace is lovely.")] * 3, lang="en")
    assert {each.name: each.positive for each in draft.aspects} == {"food": 3, "service": 0, "atmosphere": 3}
    assert [each.text for each in draft.watch_outs] == ["slow service"]
    draft = read(*[(3, "Bonne carbonara mais les tables sont très serrées.")] * 3, lang="fr")
    assert [(each.name, each.positive) for each in draft.dishes] == [("carbonara", 3)]
    assert [each.text for each in draft.watch_outs] == ["tables close together"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("豚骨ラーメンと餃子を頼みました。", {"tonkotsu ramen", "gyoza"}),
        ("小笼包和麻婆豆腐都好吃", {"xiao long bao", "mapo tofu"}),
        ("Stjerneskuddet og smørrebrødet", {"stjerneskud", "smorrebrod"}),
        ("Gli arancini e un cannolo", {"arancini", "cannoli"}),
        ("Die Kürbissuppe und der Tafelspitz", {"kurbissuppe", "tafelspitz"}),
    ],
)
def test_a_dish_has_one_name_in_all_scripts_and_forms(text: str, found: set[str]) -> None:
    assert find_dish_keys(text) == found


def test_plurals_accents_and_capitals_make_no_other_dish() -> None:
    keys = {spot.key for text in ("Crêpe Suzette", "crepes suzette", "CRÊPES SUZETTE") for spot in find_dishes(text)}
    assert keys == {"crepe suzette"}


def test_guests_of_two_scripts_speak_of_the_same_dish() -> None:
    reviews = [
        ReviewInput("rev_1", 5, "豚骨ラーメンが絶品でした。", "ja", NOW),
        ReviewInput("rev_2", 5, "The tonkotsu ramen is superb.", "en", NOW),
    ]
    draft = extractive.generate(Context(name="", rating=None, reviews=reviews, hours=None, discounts=()))
    assert [(each.name, each.mentions, each.positive) for each in draft.dishes] == [("tonkotsu ramen", 2, 2)]


# Reviews by hand
def by_hand(name: str) -> InsightDraft:
    with (HERE / "handwritten.toml").open("rb") as file:
        lines = tomllib.load(file)[name].splitlines()
    newest = datetime(2026, 11, 1, tzinfo=UTC)
    reviews = []
    for number, line in enumerate(lines):
        stars, lang, text = f"{line} ".split(" ", 2)
        when = newest - timedelta(days=number)
        reviews.append(ReviewInput(f"rev_{number}", int(stars), text.strip(), lang if text else "", when))
    return extractive.generate(Context(name=name, rating=None, reviews=reviews, hours=None, discounts=()))


@pytest.mark.parametrize("name", list(BY_HAND), ids=str)
def test_what_is_made_of_reviews_that_people_write(name: str) -> None:
    draft = by_hand(name)
    assert draft.text == BY_HAND[name]
    claims: list[Claim | WatchOut] = [*draft.aspects, *draft.dishes, *draft.watch_outs]
    assert [len(claim.citations) for claim in claims] == [min(claim.mentions, 10) for claim in claims]


def test_irony_and_denials_are_read_as_people_mean_them() -> None:
    complaints = {each.text: each.citations for each in by_hand("Smoke & Barrel").watch_outs}
    # "If you like being ignored for an hour, this is your place." is one, "Not too loud, not too pricey" is none.
    assert complaints == {
        "noise": ("rev_11", "rev_15", "rev_20"),
        "forgotten orders": ("rev_10", "rev_17"),
        "high prices": ("rev_15", "rev_23"),
        "long waits": ("rev_4", "rev_17"),
        "unfriendly staff": ("rev_3", "rev_9"),
    }


def test_what_speaks_to_machines_counts_in_no_claim() -> None:
    (pad_thai, *_) = by_hand("Green Lantern").dishes
    assert (pad_thai.name, pad_thai.citations) == (
        "pad thai",
        ("rev_0", "rev_1", "rev_5", "rev_6", "rev_14", "rev_17"),
    )
