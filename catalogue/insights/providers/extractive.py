"""The default provider: claims counted in the reviews, and a text from templates."""

from collections.abc import Mapping, Sequence
from zlib import crc32

from catalogue.insights.analysis import best_time as analysis_best_time
from catalogue.insights.analysis import dish_names, dish_ranking, feature_contrast, review_analysis, summary_text
from catalogue.insights.analysis.aspect_lexicon import LANGUAGES
from catalogue.insights.analysis.best_time import join_names
from catalogue.insights.analysis.review_analysis import LONG_WAITS, SLOW_SERVICE, MentionTally, ReviewAnalysis
from catalogue.insights.analysis.summary_text import Summary
from catalogue.insights.providers.base import Claim, Context, InsightDraft, ReviewInput, WatchOut

# A claim needs two reviews and a share of them. An aspect needs three, because nearly every review mentions one.
MIN_MENTIONS = 2
# A dish or a complaint needs three: two strangers must not put a dish on a menu. Of at most so many reviews two
# suffice for a complaint, and for a known dish, which cannot be made up: in the reviews that people wrote by hand for
# the tests, all five dishes of 25 reviews that two name are known ones, and real.
MIN_DISH_MENTIONS, FEW_REVIEWS = 3, 29
MIN_ASPECT_MENTIONS = 3
MIN_SHARE, MIN_DISH_SHARE, MIN_COMPLAINT_SHARE = 0.05, 0.02, 0.03
# Of the reviews that mention an aspect, so many praise it in words where the text says that guests do.
MIN_PRAISING_SHARE = 0.5
MAX_DISHES = 5
MAX_FEATURES = 4
MAX_WATCH_OUTS = 5


def generate(context: Context) -> InsightDraft:
    """Build the claims that several reviews share, and a text of them; about half a millisecond for each review.

    Deterministic. Increase LocalProvider.version when the output changes.
    """
    analysis = review_analysis.analyze_reviews(context.reviews, restaurant=context.name, menu=context.menu)
    total = len(context.reviews)
    min_share = MIN_SHARE * analysis.analyzed
    ranked = dish_ranking.rank_dishes(
        analysis,
        min_mentions=lambda key: max(
            MIN_MENTIONS if key in analysis.menu else min_dish_mentions(key, reviews=total), MIN_DISH_SHARE * total
        ),
        max_dishes=MAX_DISHES,
    )
    dishes = tuple(ranked.claims)
    aspects = _claims(analysis.aspects, min_mentions=max(MIN_ASPECT_MENTIONS, min_share))
    min_complaints = max(
        MIN_MENTIONS if total <= FEW_REVIEWS else MIN_DISH_MENTIONS, MIN_COMPLAINT_SHARE * analysis.analyzed
    )
    complaints = _claims(
        _merge_waiting(analysis.watch_outs, reviews=context.reviews, min_mentions=min_complaints),
        min_mentions=min_complaints,
    )
    watch_outs = tuple(WatchOut(claim.name, claim.mentions, claim.citations) for claim in complaints[:MAX_WATCH_OUTS])
    # Who orders filter coffee says so as of a dish.
    named = {word for dish in dishes for word in dish.name.lower().split()}
    # What the lexicon has comes first; nouns that it does not have fill the other places.
    contrasted = (
        *feature_contrast.find_features(analysis, market=context.market),
        *feature_contrast.find_phrases(analysis, market=context.market),
    )
    features = tuple(
        feature for feature in contrasted if named.isdisjoint(feature.name.lower().split()) or " " in feature.name
    )[:MAX_FEATURES]
    advice = {claim.name: claim for claim in _claims(analysis.times, min_mentions=max(MIN_MENTIONS, min_share))}
    crowds = {claim.name: claim for claim in _claims(analysis.crowds, min_mentions=max(MIN_MENTIONS, min_share))}
    best_time = analysis_best_time.find_best_time(
        advice,
        crowds=analysis_best_time.clear_crowds(
            crowds, {name: len(tally.polarities) for name, tally in analysis.crowds.items()}
        ),
        hours=context.hours,
        discounts=context.discounts,
    )
    # Times and complaints alone are no insight, and discounts are free in the core fields.
    text = ""
    if dishes or aspects or features:
        summary = Summary(
            reviews=total,
            dishes=dishes,
            is_first_clear=ranked.is_first_clear,
            features=features,
            aspects=aspects,
            praised={
                name
                for name, tally in analysis.aspects.items()
                if len(tally.praising) >= MIN_PRAISING_SHARE * len(tally.polarities)
            },
            watch_outs=watch_outs,
            best_time=best_time,
            # Different wordings in a list of restaurants, always the same one for a restaurant.
            wording=crc32(context.name.encode()),
        )
        text = summary_text.write_summary(summary)
    return InsightDraft(
        text=text,
        disclosure=_disclosure(analysis, total),
        best_time=best_time,
        dishes=dishes,
        features=features,
        aspects=aspects,
        watch_outs=watch_outs,
    )


def min_dish_mentions(key: str, *, reviews: int) -> int:
    """How many reviews must mention a dish, of so many reviews."""
    return MIN_MENTIONS if reviews <= FEW_REVIEWS and dish_names.is_known_dish(key) else MIN_DISH_MENTIONS


def _claims(tallies: Mapping[str, MentionTally], *, min_mentions: float) -> tuple[Claim, ...]:
    claims = (tally.to_claim(name) for name, tally in tallies.items() if len(tally.polarities) >= min_mentions)
    return tuple(sorted(claims, key=lambda claim: (-claim.mentions, claim.name)))


def _merge_waiting(
    complaints: Mapping[str, MentionTally], *, reviews: Sequence[ReviewInput], min_mentions: float
) -> Mapping[str, MentionTally]:
    """The complaints; those about a slow service, if too few, are added to those about waiting, which it causes."""
    slow, waits = complaints.get(SLOW_SERVICE), complaints.get(LONG_WAITS)
    if not slow or not waits or len(slow.polarities) >= min_mentions:
        return complaints
    both = slow.polarities | waits.polarities
    polarities = {review.id: both[review.id] for review in reviews if review.id in both}
    return {**complaints, LONG_WAITS: MentionTally(polarities, waits.praising | slow.praising)}


def _disclosure(analysis: ReviewAnalysis, total: int) -> str:
    """Say how many reviews were read in each language, and why the others were not."""
    by_language = [f"{count} in {LANGUAGES[lang]}" for lang, count in analysis.languages.most_common()]
    read = f"{analysis.analyzed}: {join_names(by_language, ' and ')}" if len(by_language) > 1 else "".join(by_language)
    other_languages = total - analysis.analyzed - analysis.without_text - analysis.suspicious
    reasons = [
        (other_languages, "in other languages, of which only the stars and the names of dishes count"),
        (analysis.without_text, "without words"),
        (analysis.suspicious, "left out for links, markup or orders to programs"),
    ]
    unread = [f"{count} {reason}" for count, reason in reasons if count]
    return (
        f"Counted by a program in {total} reviews. It read the words of {read or 'none'}."
        + (f" Beside these: {join_names(unread, '; and ')}." if unread else "")
        + " Opening hours and offers are those of the moment of writing."
    )
