"""Polarity of sentences: VADER with a restaurant lexicon, and the stars of the review."""

import re
from functools import cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

# On VADER's scale of -4 to 4: words about food and rooms, and words that are less negative here than elsewhere
# ("the table fought over the last dumpling", "the dish alone is worth the trip", "devilled eggs").
RESTAURANT_LEXICON = {
    **dict.fromkeys(("fresh", "juicy", "crispy", "tender", "flavourful", "flavorful", "generous", "moreish"), 1.8),
    **dict.fromkeys(("delicious", "tasty", "yummy", "scrumptious", "heavenly", "unforgettable"), 2.6),
    **dict.fromkeys(("attentive", "welcoming", "cosy", "cozy", "prompt", "quick", "knowledgeable", "seasoned"), 1.5),
    **dict.fromkeys(
        ("bland", "stale", "soggy", "greasy", "undercooked", "overcooked", "burnt", "dry", "rubbery"), -1.9
    ),
    **dict.fromkeys(("cold", "lukewarm", "tasteless", "flavourless", "sticky", "dirty", "inedible"), -1.9),
    **dict.fromkeys(
        (
            "slow",
            "loud",
            "noisy",
            "cramped",
            "crowded",
            "pricey",
            "forgot",
            "waited",
            "tiny",
            "headache",
            "expensive",
            "costly",
            "oily",
            "undercooked",
        ),
        -1.3,
    ),
    **dict.fromkeys(
        (
            "overpriced",
            "rude",
            "pathetic",
            "unhygienic",
            "cockroach",
            "inattentive",
            "disappointing",
            "unfriendly",
            "underwhelming",
        ),
        -2.3,
    ),
    **dict.fromkeys(("dangerous", "killer", "insane", "crazy", "sick", "addictive", "lost", "hung"), 0.0),
    **dict.fromkeys(("fought", "fight", "alone", "devilled", "burnt ends", "bar", "chuck", "sour", "mad"), 0.0),
}
# Praise that VADER rates as negative.
PRAISE_IDIOMS = re.compile(
    r"\bto die for\b"
    r"|\b(?:could|can)(?:n['\u2019]?t| ?not|['\u2019]t) (?:be|have been) (?:any )?(?:better|nicer|happier)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# "Like" that compares: VADER rates it as praise.
COMPARISON = re.compile(
    r"\b(was|were|is|are|tast\w+|look\w*|felt|feels?|smell\w*|smelt|just|more|something|seem\w*|sound\w*|dry|hard|thin"
    r"|cold) like\b",
    re.IGNORECASE,
)
# Polarity for each star above or below three. Five stars make a neutral sentence positive, one star negative.
STAR_WEIGHT = 0.2
# A sentence is positive above it, and negative below its negation.
POLARITY_THRESHOLD = 0.1


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    analyzer = SentimentIntensityAnalyzer()
    analyzer.lexicon.update(RESTAURANT_LEXICON)
    return analyzer


def text_polarity(sentence: str) -> float:
    """The polarity of an English sentence by its words, -1 to 1; 0 if they are neutral. 30 µs."""
    return float(
        _analyzer().polarity_scores(COMPARISON.sub(r"\1 as", PRAISE_IDIOMS.sub("is perfect", sentence)))["compound"]
    )


def is_emotional(word: str) -> bool:
    """Whether VADER rates this English word, so that it is no name."""
    return bool(_analyzer().lexicon.get(word))


def has_negative_word(sentence: str) -> bool:
    """Whether VADER rates a word of this English sentence as negative."""
    lexicon = _analyzer().lexicon
    return any(lexicon.get(word, 0) < 0 for word in WORD.findall(sentence.lower()))


def star_polarity(stars: int) -> float:
    """The polarity of a review by its stars, -0.4 to 0.4."""
    return (stars - 3) * STAR_WEIGHT
