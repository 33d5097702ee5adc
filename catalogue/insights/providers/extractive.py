"""The default provider: claims counted in the reviews themselves, in sentences of our own."""

from collections.abc import Mapping
from zlib import crc32

from catalogue.insights.analysis import best_time as analysis_best_time
from catalogue.insights.analysis import dish_names, review_analysis, summary_text
from catalogue.insights.analysis.aspect_lexicon import READ
from catalogue.insights.analysis.best_time import listed
from catalogue.insights.analysis.review_analysis import Findings, RecordCount
from catalogue.insights.providers.base import Claim, Context, InsightDraft, WatchOut

# One guest is an anecdote; so are a few among hundreds. Of the sides of a place everybody speaks: that takes more.
FEWEST = 2
FEWEST_FOR_ASPECT = 3
LEAST_SHARE = 0.05
MOST_DISHES = 5
MOST_WATCH_OUTS = 3


class Extractive:
    """Counts what reviews mention, in the languages of cues.READ; writes the same from the same.

    Where it writes something else than before, OwnProgram.version is raised.
    """

    def generate(self, context: Context) -> InsightDraft:
        """Claims that several reviews share, and a text of them; about 0.15 ms a review."""
        found = review_analysis.read(context.reviews)
        share = LEAST_SHARE * found.read
        named = _dishes(found, restaurant=context.name)
        aspects = _claims(found.aspects, fewest=max(FEWEST_FOR_ASPECT, share))
        complaints = _claims(found.watch_outs, fewest=max(FEWEST, share))
        watch_outs = tuple(
            WatchOut(claim.name, claim.mentions, claim.citations) for claim in complaints[:MOST_WATCH_OUTS]
        )
        advice = {claim.name: claim for claim in _claims(found.times, fewest=max(FEWEST, share))}
        best_time = analysis_best_time.best(advice, hours=context.hours, discounts=context.discounts)
        total = len(context.reviews)
        # Times and complaints alone are no insight, and discounts are told for nothing in the core fields.
        text = ""
        if named or aspects:
            text = summary_text.write(
                reviews=total,
                dishes=named,
                aspects=aspects,
                watch_outs=watch_outs,
                best_time=best_time,
                # So that neighbours in a list do not all speak alike, and each always does.
                wording=crc32(context.name.encode()),
            )
        return InsightDraft(
            text=text,
            disclosure=_disclosure(found, total),
            best_time=best_time,
            dishes=named,
            aspects=aspects,
            watch_outs=watch_outs,
        )


def _claims(tallies: Mapping[str, RecordCount], *, fewest: float) -> tuple[Claim, ...]:
    """What so many reviews mention, the most mentioned first."""
    claims = (tally.claim(name) for name, tally in tallies.items() if len(tally.moods) >= fewest)
    return tuple(sorted(claims, key=lambda claim: (-claim.mentions, claim.name)))


def _dishes(found: Findings, *, restaurant: str) -> tuple[Claim, ...]:
    """The dishes that most name, but not by a part of a longer name or of the restaurant's own."""
    own = f" {dish_names.key(restaurant)} "
    claims = {
        key: tally.claim(dish_names.shown(found.spellings[key]))
        for key, tally in found.dishes.items()
        if len(tally.moods) >= FEWEST and f" {key} " not in own
    }
    longer = {
        key
        for key, claim in claims.items()
        for other, its in claims.items()
        if f" {key} " in f" {other} " and key != other and claim.mentions <= its.mentions
    }
    kept = (claim for key, claim in claims.items() if key not in longer)
    return tuple(sorted(kept, key=lambda claim: (-claim.mentions, -claim.positive_share, claim.name))[:MOST_DISHES])


def _disclosure(found: Findings, total: int) -> str:
    """How many reviews were read in which language, and what became of the others."""
    read = [f"{count} in {READ[lang]}" for lang, count in found.languages.most_common()]
    words = f"{found.read}: {listed(read, ' and ')}" if len(read) > 1 else "".join(read) or "none"
    others = total - found.read - found.wordless - found.strange
    left = [
        (others, "in other languages, of which only the stars and the names of dishes count"),
        (found.wordless, "without words"),
        (found.strange, "left out for links, markup or orders to programs"),
    ]
    told = [f"{count} {why}" for count, why in left if count]
    return (
        f"Counted by a program in {total} reviews. It read the words of {words}."
        + (f" Beside these: {listed(told, '; and ')}." if told else "")
        + " Opening hours and offers are those of the moment of writing."
    )
