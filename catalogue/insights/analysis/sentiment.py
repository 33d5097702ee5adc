"""Whether a sentence is pleased: VADER's lexicon and rules, with the words of restaurants, beside the stars."""

import re
from functools import cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

# On VADER's scale of -4 to 4. What people say of food and rooms, and words that mean less harm here than elsewhere:
# a table fights over the last dumpling, a dish alone is worth the way, devilled eggs are none the worse for it.
RESTAURANT = {
    **dict.fromkeys(("fresh", "juicy", "crispy", "tender", "flavourful", "flavorful", "generous", "moreish"), 1.8),
    **dict.fromkeys(("delicious", "tasty", "yummy", "scrumptious", "heavenly", "unforgettable"), 2.6),
    **dict.fromkeys(("attentive", "welcoming", "cosy", "cozy", "prompt", "quick", "knowledgeable", "seasoned"), 1.5),
    **dict.fromkeys(
        ("bland", "stale", "soggy", "greasy", "undercooked", "overcooked", "burnt", "dry", "rubbery"), -1.9
    ),
    **dict.fromkeys(("cold", "lukewarm", "tasteless", "flavourless", "sticky", "dirty", "inedible"), -1.9),
    **dict.fromkeys(("slow", "loud", "noisy", "cramped", "crowded", "pricey", "forgot", "waited", "tiny"), -1.3),
    **dict.fromkeys(("overpriced", "rude", "inattentive", "disappointing", "unfriendly", "underwhelming"), -2.3),
    **dict.fromkeys(("dangerous", "killer", "insane", "crazy", "sick", "addictive", "lost", "hung"), 0.0),
    **dict.fromkeys(("fought", "fight", "alone", "devilled", "burnt ends", "bar", "chuck", "sour", "mad"), 0.0),
}
# Praise that the rules take for its contrary.
NO_BETTER = re.compile(
    r"\bto die for\b"
    r"|\b(?:could|can)(?:n['\u2019]?t| ?not|['\u2019]t) (?:be|have been) (?:any )?(?:better|nicer|happier)\b",
    re.IGNORECASE,
)
# How much the stars count beside the words: five stars make a sentence without a mood a pleased one, and one star
# the other; from here on a mood is one.
STARS = 0.2
MOOD = 0.1


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    analyzer = SentimentIntensityAnalyzer()
    analyzer.lexicon.update(RESTAURANT)
    return analyzer


def mood(sentence: str, *, stars: int) -> float:
    """Above 0 for a pleased English sentence, below for a displeased one, about -1 to 1. 30 µs."""
    return by_words(sentence) + by_stars(stars)


def by_words(sentence: str) -> float:
    """The mood of an English sentence by its words alone; 0 where they have none."""
    return float(_analyzer().polarity_scores(NO_BETTER.sub("is perfect", sentence))["compound"])


def by_stars(stars: int) -> float:
    """The mood of words that cannot be read."""
    return (stars - 3) * STARS
