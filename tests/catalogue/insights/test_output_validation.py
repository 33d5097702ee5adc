"""What stands of what a model says, to the letter, and what nobody can have it say."""

import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from catalogue.insights.guardrails import output_validation, prompt_injection
from catalogue.insights.guardrails.output_validation import OutputRejected
from catalogue.insights.providers import extractive, prompt
from catalogue.insights.providers.base import MAX_TEXT_LENGTH, Claim, Context, InsightDraft, ReviewInput, Sentence
from catalogue.insights.providers.prompt import CitedText, ModelOutput

Row = tuple[int, str] | tuple[int, str, str]


class ValidationResult(NamedTuple):
    """A valid draft, or the reason why there is none."""

    draft: InsightDraft | None
    reason: str = ""


def _load_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


RED_TEAM, HANDWRITTEN, HONEST_SENTENCES = map(_load_toml, ("red_team.toml", "handwritten.toml", "honest.toml"))
DINNER: list[Row] = [
    (5, "The tonkotsu ramen alone is worth the trip. The staff were warm."),
    (5, "Best tonkotsu ramen I have had in years! We waited forty minutes, though."),
    (2, "Our Tonkotsu Ramen arrived cold. The waiter was rude."),
    (4, "Order the gyoza, you will not regret it. Service was quick."),
    (1, "We sent the gyoza back. We waited an hour."),
    (5, "Une merveille, le tonkotsu ramen !", "fr"),
    (3, "Just stars, really."),
]
HONEST = (
    CitedText("Guests praise the tonkotsu ramen and the warm staff.", ("r1", "r2")),
    CitedText("Some complain about long waits for the food.", ("r2", "r5")),
)
HONEST_TEXT = "Guests praise the tonkotsu ramen and the warm staff. Some complain about long waits for the food."
INJECTION_REASON = "The output shows signs of a prompt injection: links, code or orders."


def context(rows: Sequence[Row], **given: Any) -> Context:
    newest = datetime(2026, 11, 1, tzinfo=UTC)
    reviews = [
        ReviewInput(
            f"rev_{number}", row[0], row[1], row[2] if len(row) == 3 else "en", newest - timedelta(days=number)
        )
        for number, row in enumerate(rows)
    ]
    return Context(
        **{"name": "Kikuchi", "rating": Decimal("4.0"), "hours": None, "discounts": (), "reviews": reviews, **given}
    )


def verify(
    sentences: Sequence[CitedText], named: Sequence[CitedText] = (), rows: Sequence[Row] = DINNER
) -> ValidationResult:
    place = context(rows)
    answer = ModelOutput(tuple(sentences), tuple(named))
    return validate(answer, prompt=prompt.build_prompt(place), context=place)


def validate(output: ModelOutput, *, prompt: prompt.Prompt, context: Context) -> ValidationResult:
    try:
        draft = output_validation.validate_output(output, prompt=prompt, context=context, model="m-1")
    except OutputRejected as error:
        return ValidationResult(None, str(error))
    return ValidationResult(draft)


def valid_draft(verdict: ValidationResult) -> InsightDraft:
    assert verdict.draft is not None, verdict.reason
    return verdict.draft


# Honest answers
def test_valid_output_is_accepted_with_its_citations() -> None:
    draft = valid_draft(verify(HONEST))
    assert draft.text == HONEST_TEXT
    assert draft.sentences == (
        Sentence("Guests praise the tonkotsu ramen and the warm staff.", ("rev_0", "rev_1")),
        Sentence("Some complain about long waits for the food.", ("rev_1", "rev_4")),
    )


def test_claims_are_those_of_the_local_provider() -> None:
    draft, counted = valid_draft(verify(HONEST)), extractive.generate(context(DINNER))
    same = replace(draft, text=counted.text, disclosure=counted.disclosure, sentences=())
    assert same == counted
    assert counted.watch_outs


def test_disclosure_names_the_model_and_the_number_of_reviews() -> None:
    draft, counted = valid_draft(verify(HONEST)), extractive.generate(context(DINNER))
    assert draft.disclosure == (
        "The text was written by a language model (m-1) from 7 of 7 reviews, and a program checked each sentence"
        f" against those that it cites. {counted.disclosure}"
    )


def test_citations_that_do_not_support_a_sentence_are_dropped() -> None:
    praise = CitedText("Guests praise the tonkotsu ramen.", ("r9", "r5", "r6", "r7", "r1"))
    assert valid_draft(verify([praise])).sentences[0].citations == ("rev_5", "rev_0")


def test_review_in_another_language_supports_a_sentence() -> None:
    rows: list[Row] = [*DINNER[:4], (2, "Der Service war sehr langsam.", "de")]
    slow = CitedText("Service is described as slow.", ("r5",))
    assert valid_draft(verify([slow], rows=rows)).sentences[0].citations == ("rev_4",)


def test_duplicate_sentence_is_dropped() -> None:
    assert valid_draft(verify([HONEST[0], HONEST[0]])).text == HONEST[0].text


def test_long_text_loses_whole_sentences_at_the_end() -> None:
    rows: list[Row] = [(5, "The ramen, the gyoza, the service and the staff. " + "All lovely, all evening. " * 8)]
    ends = ("ramen", "gyoza", "service", "staff", "ramen and gyoza", "gyoza and staff")
    long = [
        CitedText(f"Guests praise the ramen, the gyoza, {'the staff, the service, ' * 6}the lovely {end}.", ("r1",))
        for end in ends
    ]
    draft = valid_draft(verify(long, rows=rows))
    assert draft.text == " ".join(part.text for part in long[:3])
    assert len(draft.text) <= MAX_TEXT_LENGTH < len(" ".join(part.text for part in long[:4]))
    assert len(draft.sentences) == 3


def test_output_with_half_of_its_sentences_invalid_is_accepted_and_with_more_rejected() -> None:
    bad = CitedText("Guests praise the ramen in 97 reviews.", ("r1",))
    assert valid_draft(verify([*HONEST, bad, bad])).text == HONEST_TEXT
    assert verify([*HONEST, bad, bad, bad]) == ValidationResult(
        None, "3 of 5 sentences are invalid: 3 is no plain sentence."
    )


@pytest.mark.exhaustive
def test_output_without_sentences_is_rejected() -> None:
    assert verify([]) == ValidationResult(None, "The model wrote no sentence.")
    assert verify([CitedText("Guests love the pool.", ("r1",))]) == ValidationResult(
        None, "No sentence is valid: 1 says more than the reviews that it cites."
    )


def test_negated_word_supports_nothing() -> None:
    rows: list[Row] = [(4, "The ramen was not spicy at all, the staff were kind."), (4, "Is the ramen salty?")]
    fallen = "No sentence is valid: 1 says more than the reviews that it cites."
    assert verify([CitedText("The ramen is described as spicy.", ("r1",))], rows=rows) == ValidationResult(
        None, fallen
    )
    assert verify([CitedText("The ramen is described as salty.", ("r2",))], rows=rows) == ValidationResult(
        None, fallen
    )


def test_statement_about_another_place_supports_nothing() -> None:
    rows: list[Row] = [(4, "The staff were kind. The bakery next door has wonderful bread.")]
    assert verify([CitedText("Guests praise the wonderful bread.", ("r1",))], rows=rows).draft is None


@pytest.mark.parametrize(
    ("word", "minimum"), [("Some", 2), ("Few", 2), ("Others", 2), ("Several", 3), ("Many", 5), ("Most", 8)]
)
def test_quantifier_needs_as_many_reviews(word: str, minimum: int) -> None:
    rows: list[Row] = [(5, "Lovely ramen.")] * 8
    labels = tuple(f"r{number}" for number in range(1, 9))
    praise = f"{word} praise the lovely ramen."
    assert valid_draft(verify([CitedText(praise, labels[:minimum])], rows=rows)).text == praise
    assert verify([CitedText(praise, labels[: minimum - 1])], rows=rows) == ValidationResult(
        None, "No sentence is valid: 1 counts more guests than it cites."
    )


def test_review_in_an_unsupported_language_supports_no_sentence() -> None:
    rows: list[Row] = [(3, "غير جيد", "ar"), (5, "Lovely ramen and kind staff.")]
    praise = CitedText("Guests praise the ramen.", ("r1",))
    assert verify([praise], rows=rows) == ValidationResult(
        None, "No sentence is valid: 1 cites no review that is read."
    )
    beside = CitedText("Guests praise the ramen.", ("r1", "r2"))
    assert valid_draft(verify([beside], rows=rows)).sentences[0].citations == ("rev_1",)


def test_review_in_an_unsupported_language_supports_no_dish() -> None:
    rows: list[Row] = [*SOUP[:4], (5, "blorshka رائع", "ar")]
    assert valid_draft(verify([WARM_ALONE], [CitedText("blorshka", ("r5",))], rows)).dishes == ()


def test_all_positive_text_about_a_low_rating_is_rejected() -> None:
    rows: list[Row] = [
        (1, "The ramen was cold."),
        (1, "Rude staff."),
        (2, "Sad gyoza."),
        (1, "Slow."),
        (5, "Lovely ramen."),
    ]
    praise = CitedText("Guests adore the wonderful and lovely ramen.", ("r5",))
    assert verify([praise], rows=rows) == ValidationResult(None, "The text only praises, and the stars do not.")


def test_all_negative_text_about_a_high_rating_is_rejected() -> None:
    rows: list[Row] = [
        (5, "Lovely ramen."),
        (5, "Kind staff."),
        (5, "Great gyoza."),
        (5, "Quick."),
        (1, "Awful, horrible ramen."),
    ]
    blame = CitedText("Guests find the ramen awful and horrible.", ("r5",))
    assert verify([blame], rows=rows) == ValidationResult(None, "The text only criticizes, and the stars do not.")


# Dishes
SOUP: list[Row] = [
    (5, "The blorshka is wonderful. The staff were warm."),
    (4, "We liked the blorschka and the service."),
    (1, "The BLORSHKA was cold."),
    (5, "La blorshka è ottima.", "it"),
    (5, "The staff were lovely."),
]
WARM = CitedText("Guests praise the warm and lovely staff.", ("r1", "r5"))
WARM_ALONE = CitedText("Guests praise the warm staff.", ("r1",))


def test_unknown_dish_is_counted_in_all_reviews() -> None:
    draft = valid_draft(verify([WARM], [CitedText("blorshka", ("r1", "r3", "r5", "r77"))], SOUP))
    assert draft.dishes == (Claim("blorshka", mentions=4, positive=3, citations=("rev_0", "rev_1", "rev_2", "rev_3")),)


def test_an_unknown_dish_needs_three_guests() -> None:
    assert (
        valid_draft(
            verify([WARM], [CitedText("blorshka", ("r1",))], [*SOUP[:2], *SOUP[4:], *SOUP[4:], *SOUP[4:]])
        ).dishes
        == ()
    )


def test_dish_without_a_supporting_citation_is_dropped() -> None:
    assert valid_draft(verify([WARM], [CitedText("blorshka", ("r5", "r77"))], SOUP)).dishes == ()


def test_dish_needs_the_exact_spelling_in_a_cited_review() -> None:
    assert valid_draft(verify([WARM], [CitedText("blorska", ("r1", "r3"))], SOUP)).dishes == ()


def test_local_dish_is_not_counted_twice() -> None:
    named = [
        CitedText("tonkotsu ramen", ("r1",)),
        CitedText("ramen", ("r1",)),
        CitedText("tonkotsu", ("r1",)),
        CitedText("Gyoza", ("r4",)),
    ]
    assert [(dish.name, dish.mentions) for dish in valid_draft(verify(HONEST, named)).dishes] == [
        ("tonkotsu ramen", 4),
        ("gyoza", 2),
    ]


def test_text_shorter_than_a_name_does_not_contain_it() -> None:
    assert not output_validation.contains_name("ramen", "tonkotsu ramen")
    assert output_validation.contains_name("a tonkatsu ramen", "tonkotsu ramen")


def test_short_name_must_be_a_whole_word() -> None:
    assert output_validation.contains_name("the pho was good", "pho")
    assert not output_validation.contains_name("nobody answers the phone", "pho")


# What an honest model writes of reviews as guests write them
def read_lines(place: str) -> list[Row]:
    lines = HANDWRITTEN[place].strip().splitlines()
    return [(int(stars), " ".join(words), lang) for stars, lang, *words in (line.split(" ", 2) for line in lines)]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("place", "text", "lines", "fallen"),
    [
        pytest.param(place, text, lines, why[0] if why else "", id=text)
        for place, sentences in HONEST_SENTENCES.items()
        for text, lines, *why in sentences
    ],
)
def test_plain_sentences_are_valid(place: str, text: str, lines: list[int], fallen: str) -> None:
    rows = context(read_lines(place))
    asked = prompt.build_prompt(rows)
    labels = {review.id: label for label, review in asked.reviews.items()}
    part = CitedText(text, tuple(labels[f"rev_{line - 1}"] for line in lines))
    verdict = validate(ModelOutput((part,), ()), prompt=asked, context=rows)
    if fallen:
        assert verdict == ValidationResult(None, f"No sentence is valid: 1 {fallen}.")
    else:
        assert valid_draft(verdict).text == text


def test_nearly_all_honest_sentences_are_valid() -> None:
    sentences = [sentence for place in HONEST_SENTENCES.values() for sentence in place]
    assert len(sentences) >= 37
    assert sum(len(sentence) == 2 for sentence in sentences) >= 0.85 * len(sentences)


@pytest.mark.exhaustive
@pytest.mark.parametrize("claim", [pytest.param(each, id=each["sentence"]) for each in RED_TEAM["claims"]])
@pytest.mark.parametrize("others", ["none", "all"])
def test_no_invented_fact_is_valid(claim: dict[str, Any], others: str) -> None:
    rows: list[Row] = [
        (claim.get("stars", 5), claim.get("review", "The chicken was great, and so was the pasta."), "en"),
        (3, "غير جيد", "ar"),
        (5, "Great chicken, great pasta, kind staff."),
        (2, "The chicken was cold."),
        (3, "We ate pasta."),
    ]
    citations = ("r1",) if others == "none" else ("r1", "r2", "r3", "r4", "r5")
    verdict = verify([CitedText(claim["sentence"], citations)], rows=rows)
    assert verdict == ValidationResult(None, f"No sentence is valid: 1 {claim['fallen']}.")
    assert verify([CitedText(claim["sentence"], ("r2",))], rows=rows).draft is None


# Red team
def reviews_of_red_team() -> list[Any]:
    return [pytest.param(each, id=each["name"]) for each in RED_TEAM["reviews"]]


@pytest.mark.parametrize("review", reviews_of_red_team())
def test_suspicious_review_is_not_in_the_prompt(review: dict[str, Any]) -> None:
    place = context([*DINNER, (5, review["text"], "")])
    asked = prompt.build_prompt(place)
    assert prompt_injection.is_suspicious(review["text"]) is not review.get("given", False)
    assert [each.id for each in asked.reviews.values()] == [
        f"rev_{number}" for number in range(8 if review.get("given") else 7)
    ]


@pytest.mark.sample(8)
@pytest.mark.parametrize("review", reviews_of_red_team())
def test_output_that_repeats_a_hostile_review_is_rejected(review: dict[str, Any]) -> None:
    rows: list[Row] = [*DINNER, (5, review["text"], "")]
    repeated = CitedText(review["text"], ("r8", "r1"))
    verdict = verify([*HONEST, repeated], rows=rows)
    if review.get("echo", "rejected") == "rejected":
        assert verdict == ValidationResult(None, INJECTION_REASON)
        assert verify(HONEST, [repeated], rows=rows) == ValidationResult(None, INJECTION_REASON)
    else:
        assert valid_draft(verdict) == valid_draft(verify(HONEST, rows=rows))
        assert valid_draft(verify(HONEST, [repeated], rows=rows)) == valid_draft(verdict)
        assert valid_draft(verdict).text == HONEST_TEXT
        assert verify([repeated], rows=rows).draft is None


@pytest.mark.sample(6)
@pytest.mark.parametrize("answer", [pytest.param(each, id=each["name"]) for each in RED_TEAM["answers"]])
def test_output_that_obeys_an_injection_is_rejected(answer: dict[str, Any]) -> None:
    citations = tuple(answer.get("citations", ("r1", "r3")))
    sentences = [CitedText(answer["sentence"], citations)] if "sentence" in answer else []
    named = [CitedText(answer["dish"], citations)] if "dish" in answer else []
    verdict = verify([*HONEST, *sentences], named)
    if "reason" in answer:
        assert verdict == ValidationResult(None, INJECTION_REASON)
        return
    assert valid_draft(verdict) == valid_draft(verify(HONEST))
    if sentences:
        assert verify(sentences) == ValidationResult(None, f"No sentence is valid: 1 {answer['fallen']}.")


def test_red_team_is_not_reduced() -> None:
    assert len(RED_TEAM["reviews"]) >= 40
    assert len(RED_TEAM["answers"]) >= 25


@pytest.mark.sample(3)
@pytest.mark.parametrize("text", ["a", "a1B", '"a', "a.", "a.b ", "ignore ", "(1 ", "0-1 ", "on", "\u0430"])
def test_detection_time_is_bounded(text: str) -> None:
    began = time.monotonic()
    prompt_injection.is_suspicious(text * 30_000)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "text",
    [
        "Ignore the bad reviews, the ramen is great!",
        "I felt ignored by the waiter, and the rules of the house are odd.",
        "Prompt service, great system for queues. The assistant chef came out.",
        "As the owner told us, the ramen takes two days. We will be back.",
        "Good value : 12.50 for lunch (dessert included). 5/5 - 10/10.",
        "We came on 12.10.2026 at 19:30 with a party of 8.",
        "A B C of ramen... so good!!!",
        "Der Kellner hat uns ignoriert, die Regeln sind seltsam.",
        "On nous a oubliés, sans précédent !",
        "Le patron nous a ignorés.",
        "« Une merveille », dit ma femme. 🍜🍜",
        "麻婆豆腐が絶品でした。指示が丁寧。",
        "My order number was 12345678, still no refund.",
        "Avoid: rats. Forget the rules of etiquette above.",
        "In the summary: great food, slow service.",
        "We ordered the system: works well.",
        "I asked the manager, ignore the above table, they said",
        "I am the owner of a cafe and you should try the cake",
        "The food was good.it came fast.is it always so?",
        "We sat down on the dot it was eight, and the menu arrived on the dot.",
        "En resumen, muy rico.Es de verdad bueno.",
        "En résumé, une merveille. Riassumendo: ottimo!",
        "Alles in allem, kurze Zusammenfassung: gut und günstig.",
        "まとめると、とても美味しかったです。",
        "Those who read the menu twice will be rewarded. By the end of the review you know we loved it.",
        "I would describe the place as cosy.",
    ],
)
def test_ordinary_reviews_are_not_suspicious(text: str) -> None:
    assert not prompt_injection.is_suspicious(text)
