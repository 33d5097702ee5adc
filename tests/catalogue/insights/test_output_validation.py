"""What stands of what a model says, to the letter, and what nobody can have it say."""

import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from catalogue.insights.guardrails import output_validation, prompt_injection
from catalogue.insights.guardrails.output_validation import Verdict
from catalogue.insights.providers import prompt
from catalogue.insights.providers.base import LONGEST, Claim, Context, InsightDraft, Opinion, Sentence
from catalogue.insights.providers.extractive import Extractive
from catalogue.insights.providers.prompt import Answer, Part

Said = tuple[int, str] | tuple[int, str, str]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


RED_TEAM, HANDWRITTEN, HONEST_SENTENCES = map(_read, ("red_team.toml", "handwritten.toml", "honest.toml"))
DINNER: list[Said] = [
    (5, "The tonkotsu ramen alone is worth the trip. The staff were warm."),
    (5, "Best tonkotsu ramen I have had in years! We waited forty minutes, though."),
    (2, "Our Tonkotsu Ramen arrived cold. The waiter was rude."),
    (4, "Order the gyoza, you will not regret it. Service was quick."),
    (1, "We sent the gyoza back. We waited an hour."),
    (5, "Une merveille, le tonkotsu ramen !", "fr"),
    (3, "Just stars, really."),
]
HONEST = (
    Part("Guests praise the tonkotsu ramen and the warm staff.", ("r1", "r2")),
    Part("Some complain about long waits for the food.", ("r2", "r5")),
)
HONEST_TEXT = "Guests praise the tonkotsu ramen and the warm staff. Some complain about long waits for the food."
TOLD = "The model says what only somebody who was told to would say: links, code or orders."


def context(said: Sequence[Said], **given: Any) -> Context:
    newest = datetime(2026, 11, 1, tzinfo=UTC)
    reviews = [
        Opinion(f"rev_{number}", row[0], row[1], row[2] if len(row) == 3 else "en", newest - timedelta(days=number))
        for number, row in enumerate(said)
    ]
    return Context(
        **{"name": "Kikuchi", "rating": Decimal("4.0"), "hours": None, "discounts": (), "reviews": reviews, **given}
    )


def verify(sentences: Sequence[Part], named: Sequence[Part] = (), said: Sequence[Said] = DINNER) -> Verdict:
    place = context(said)
    answer = Answer(tuple(sentences), tuple(named))
    return output_validation.verify(answer, question=prompt.question(place), context=place, model="m-1")


def stands(verdict: Verdict) -> InsightDraft:
    assert verdict.draft is not None, verdict.reason
    return verdict.draft


# Honest answers
def test_an_honest_answer_stands_with_what_each_sentence_cites() -> None:
    draft = stands(verify(HONEST))
    assert draft.text == HONEST_TEXT
    assert draft.sentences == (
        Sentence("Guests praise the tonkotsu ramen and the warm staff.", ("rev_0", "rev_1")),
        Sentence("Some complain about long waits for the food.", ("rev_1", "rev_4")),
    )


def test_the_claims_are_those_that_the_program_counts() -> None:
    draft, counted = stands(verify(HONEST)), Extractive().generate(context(DINNER))
    same = replace(draft, text=counted.text, disclosure=counted.disclosure, sentences=())
    assert same == counted
    assert counted.watch_outs


def test_the_disclosure_names_the_model_and_what_it_was_given() -> None:
    draft, counted = stands(verify(HONEST)), Extractive().generate(context(DINNER))
    assert draft.disclosure == (
        "The text was written by a language model (m-1) from 7 of 7 reviews, and a program held each sentence against"
        f" those that it cites. {counted.disclosure}"
    )


def test_citations_that_do_not_carry_a_sentence_are_left_out() -> None:
    praise = Part("Guests praise the tonkotsu ramen.", ("r9", "r5", "r6", "r7", "r1"))
    assert stands(verify([praise])).sentences[0].citations == ("rev_5", "rev_0")


def test_a_sentence_may_rest_on_a_review_in_another_language() -> None:
    said: list[Said] = [*DINNER[:4], (2, "Der Service war sehr langsam.", "de")]
    slow = Part("Service is described as slow.", ("r5",))
    assert stands(verify([slow], said=said)).sentences[0].citations == ("rev_4",)


def test_the_same_sentence_is_told_once() -> None:
    assert stands(verify([HONEST[0], HONEST[0]])).text == HONEST[0].text


def test_whole_sentences_are_left_out_at_the_end() -> None:
    said: list[Said] = [(5, "The ramen, the gyoza, the service and the staff. " + "All lovely, all evening. " * 8)]
    ends = ("ramen", "gyoza", "service", "staff", "ramen and gyoza", "gyoza and staff")
    long = [
        Part(f"Guests praise the ramen, the gyoza, {'the staff, the service, ' * 6}the lovely {end}.", ("r1",))
        for end in ends
    ]
    draft = stands(verify(long, said=said))
    assert draft.text == " ".join(part.text for part in long[:3])
    assert len(draft.text) <= LONGEST < len(" ".join(part.text for part in long[:4]))
    assert len(draft.sentences) == 3


def test_an_answer_half_of_which_falls_stands_and_one_of_which_more_falls_does_not() -> None:
    bad = Part("Guests praise the ramen in 97 reviews.", ("r1",))
    assert stands(verify([*HONEST, bad, bad])).text == HONEST_TEXT
    assert verify([*HONEST, bad, bad, bad]) == Verdict(None, "3 of 5 sentences fall: 3 is no plain sentence.")


def test_an_answer_without_sentences_is_rejected() -> None:
    assert verify([]) == Verdict(None, "The model wrote no sentence.")
    assert verify([Part("Guests love the pool.", ("r1",))]) == Verdict(
        None, "No sentence stands: 1 says more than the reviews that it cites."
    )


def test_a_word_that_is_denied_carries_nothing() -> None:
    said: list[Said] = [(4, "The ramen was not spicy at all, the staff were kind."), (4, "Is the ramen salty?")]
    fallen = "No sentence stands: 1 says more than the reviews that it cites."
    assert verify([Part("The ramen is described as spicy.", ("r1",))], said=said) == Verdict(None, fallen)
    assert verify([Part("The ramen is described as salty.", ("r2",))], said=said) == Verdict(None, fallen)


def test_what_reviews_say_of_the_place_next_door_carries_nothing() -> None:
    said: list[Said] = [(4, "The staff were kind. The bakery next door has wonderful bread.")]
    assert verify([Part("Guests praise the wonderful bread.", ("r1",))], said=said).draft is None


@pytest.mark.parametrize(
    ("word", "fewest"), [("Some", 2), ("Few", 2), ("Others", 2), ("Several", 3), ("Many", 5), ("Most", 8)]
)
def test_a_word_that_counts_guests_needs_as_many_reviews(word: str, fewest: int) -> None:
    said: list[Said] = [(5, "Lovely ramen.")] * 8
    labels = tuple(f"r{number}" for number in range(1, 9))
    praise = f"{word} praise the lovely ramen."
    assert stands(verify([Part(praise, labels[:fewest])], said=said)).text == praise
    assert verify([Part(praise, labels[: fewest - 1])], said=said) == Verdict(
        None, "No sentence stands: 1 counts more guests than it cites."
    )


def test_a_review_in_a_language_that_is_not_read_carries_no_sentence() -> None:
    said: list[Said] = [(3, "غير جيد", "ar"), (5, "Lovely ramen and kind staff.")]
    praise = Part("Guests praise the ramen.", ("r1",))
    assert verify([praise], said=said) == Verdict(None, "No sentence stands: 1 cites no review that is read.")
    beside = Part("Guests praise the ramen.", ("r1", "r2"))
    assert stands(verify([beside], said=said)).sentences[0].citations == ("rev_1",)


def test_a_review_in_a_language_that_is_not_read_carries_no_dish() -> None:
    said: list[Said] = [*SOUP[:4], (5, "blorshka رائع", "ar")]
    assert stands(verify([WARM_ALONE], [Part("blorshka", ("r5",))], said)).dishes == ()


def test_a_text_that_only_praises_a_place_with_poor_stars_is_rejected() -> None:
    said: list[Said] = [
        (1, "The ramen was cold."),
        (1, "Rude staff."),
        (2, "Sad gyoza."),
        (1, "Slow."),
        (5, "Lovely ramen."),
    ]
    praise = Part("Guests adore the wonderful and lovely ramen.", ("r5",))
    assert verify([praise], said=said) == Verdict(None, "The text only praises, and the stars do not.")


def test_a_text_that_only_damns_a_place_with_good_stars_is_rejected() -> None:
    said: list[Said] = [
        (5, "Lovely ramen."),
        (5, "Kind staff."),
        (5, "Great gyoza."),
        (5, "Quick."),
        (1, "Awful, horrible ramen."),
    ]
    blame = Part("Guests find the ramen awful and horrible.", ("r5",))
    assert verify([blame], said=said) == Verdict(None, "The text only damns, and the stars do not.")


# Dishes
SOUP: list[Said] = [
    (5, "The blorshka is wonderful. The staff were warm."),
    (4, "We liked the blorschka and the service."),
    (1, "The BLORSHKA was cold."),
    (5, "La blorshka è ottima.", "it"),
    (5, "The staff were lovely."),
]
WARM = Part("Guests praise the warm and lovely staff.", ("r1", "r5"))
WARM_ALONE = Part("Guests praise the warm staff.", ("r1",))


def test_a_dish_that_our_words_do_not_know_is_counted_in_all_reviews() -> None:
    draft = stands(verify([WARM], [Part("blorshka", ("r1", "r3", "r5", "r77"))], SOUP))
    assert draft.dishes == (Claim("blorshka", mentions=4, pleased=3, citations=("rev_0", "rev_1", "rev_2", "rev_3")),)


def test_an_unknown_dish_needs_three_guests() -> None:
    assert (
        stands(verify([WARM], [Part("blorshka", ("r1",))], [*SOUP[:2], *SOUP[4:], *SOUP[4:], *SOUP[4:]])).dishes == ()
    )


def test_a_dish_none_of_whose_citations_names_it_is_none() -> None:
    assert stands(verify([WARM], [Part("blorshka", ("r5", "r77"))], SOUP)).dishes == ()


def test_a_dish_is_written_as_a_review_that_it_cites_writes_it() -> None:
    assert stands(verify([WARM], [Part("blorska", ("r1", "r3"))], SOUP)).dishes == ()


def test_a_dish_of_ours_is_not_counted_twice() -> None:
    named = [
        Part("tonkotsu ramen", ("r1",)),
        Part("ramen", ("r1",)),
        Part("tonkotsu", ("r1",)),
        Part("Gyoza", ("r4",)),
    ]
    assert [(dish.name, dish.mentions) for dish in stands(verify(HONEST, named)).dishes] == [
        ("tonkotsu ramen", 4),
        ("gyoza", 2),
    ]


def test_a_review_that_is_shorter_than_a_name_does_not_carry_it() -> None:
    assert not output_validation.carries("tonkotsu ramen", "ramen")
    assert output_validation.carries("tonkotsu ramen", "a tonkatsu ramen")


def test_a_short_name_is_a_word_of_its_own() -> None:
    assert output_validation.carries("pho", "the pho was good")
    assert not output_validation.carries("pho", "nobody answers the phone")


# What an honest model writes of reviews as guests write them
def read_lines(place: str) -> list[Said]:
    lines = HANDWRITTEN[place].strip().splitlines()
    return [(int(stars), " ".join(words), lang) for stars, lang, *words in (line.split(" ", 2) for line in lines)]


@pytest.mark.parametrize(
    ("place", "text", "lines", "fallen"),
    [
        pytest.param(place, text, lines, why[0] if why else "", id=text)
        for place, sentences in HONEST_SENTENCES.items()
        for text, lines, *why in sentences
    ],
)
def test_plain_sentences_stand(place: str, text: str, lines: list[int], fallen: str) -> None:
    said = context(read_lines(place))
    asked = prompt.question(said)
    labels = {review.id: label for label, review in asked.reviews.items()}
    part = Part(text, tuple(labels[f"rev_{line - 1}"] for line in lines))
    verdict = output_validation.verify(Answer((part,), ()), question=asked, context=said, model="m-1")
    if fallen:
        assert verdict == Verdict(None, f"No sentence stands: 1 {fallen}.")
    else:
        assert stands(verdict).text == text


def test_most_of_what_an_honest_model_writes_stands() -> None:
    sentences = [sentence for place in HONEST_SENTENCES.values() for sentence in place]
    assert len(sentences) >= 37
    assert sum(len(sentence) == 2 for sentence in sentences) >= 0.85 * len(sentences)


@pytest.mark.parametrize("claim", [pytest.param(each, id=each["sentence"]) for each in RED_TEAM["claims"]])
@pytest.mark.parametrize("others", ["none", "all"])
def test_no_invented_fact_stands(claim: dict[str, Any], others: str) -> None:
    said: list[Said] = [
        (claim.get("stars", 5), claim.get("review", "The chicken was great, and so was the pasta."), "en"),
        (3, "غير جيد", "ar"),
        (5, "Great chicken, great pasta, kind staff."),
        (2, "The chicken was cold."),
        (3, "We ate pasta."),
    ]
    citations = ("r1",) if others == "none" else ("r1", "r2", "r3", "r4", "r5")
    verdict = verify([Part(claim["sentence"], citations)], said=said)
    assert verdict == Verdict(None, f"No sentence stands: 1 {claim['fallen']}.")
    assert verify([Part(claim["sentence"], ("r2",))], said=said).draft is None


# Red team
def reviews_of_red_team() -> list[Any]:
    return [pytest.param(each, id=each["name"]) for each in RED_TEAM["reviews"]]


@pytest.mark.parametrize("review", reviews_of_red_team())
def test_a_hostile_review_is_given_to_a_model_only_where_it_may_be_a_review(review: dict[str, Any]) -> None:
    place = context([*DINNER, (5, review["text"], "")])
    asked = prompt.question(place)
    assert prompt_injection.is_strange(review["text"]) is not review.get("given", False)
    assert [each.id for each in asked.reviews.values()] == [
        f"rev_{number}" for number in range(8 if review.get("given") else 7)
    ]


@pytest.mark.parametrize("review", reviews_of_red_team())
def test_a_model_that_repeats_a_hostile_review_is_not_believed(review: dict[str, Any]) -> None:
    said: list[Said] = [*DINNER, (5, review["text"], "")]
    repeated = Part(review["text"], ("r8", "r1"))
    verdict = verify([*HONEST, repeated], said=said)
    if review.get("echo", "rejected") == "rejected":
        assert verdict == Verdict(None, TOLD)
        assert verify(HONEST, [repeated], said=said) == Verdict(None, TOLD)
    else:
        assert stands(verdict) == stands(verify(HONEST, said=said))
        assert stands(verify(HONEST, [repeated], said=said)) == stands(verdict)
        assert stands(verdict).text == HONEST_TEXT
        assert verify([repeated], said=said).draft is None


@pytest.mark.parametrize("answer", [pytest.param(each, id=each["name"]) for each in RED_TEAM["answers"]])
def test_nothing_of_a_model_that_obeyed_is_written(answer: dict[str, Any]) -> None:
    citations = tuple(answer.get("citations", ("r1", "r3")))
    sentences = [Part(answer["sentence"], citations)] if "sentence" in answer else []
    named = [Part(answer["dish"], citations)] if "dish" in answer else []
    verdict = verify([*HONEST, *sentences], named)
    if "reason" in answer:
        assert verdict == Verdict(None, TOLD)
        return
    assert stands(verdict) == stands(verify(HONEST))
    if sentences:
        assert verify(sentences) == Verdict(None, f"No sentence stands: 1 {answer['fallen']}.")


def test_the_red_team_is_as_large_as_it_was() -> None:
    assert len(RED_TEAM["reviews"]) >= 40
    assert len(RED_TEAM["answers"]) >= 25


@pytest.mark.parametrize("text", ["a", "a1B", '"a', "a.", "a.b ", "ignore ", "(1 ", "0-1 ", "on", "\u0430"])
def test_no_text_takes_long_to_be_found_strange(text: str) -> None:
    began = time.monotonic()
    prompt_injection.is_strange(text * 30_000)
    assert time.monotonic() - began < 2


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
def test_what_guests_do_write_is_read(text: str) -> None:
    assert not prompt_injection.is_strange(text)
