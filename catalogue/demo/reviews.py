"""Generated reviews: stars that follow the place's quality, and words that follow the stars."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TypeVar

from catalogue.demo import vocabulary
from catalogue.demo.calendar import Calendar
from catalogue.demo.ids import ids
from catalogue.demo.places import Place

T = TypeVar("T")

MOODS = (0, 0, 0, 1, 2, 2)
SECONDS = 86_400
DRAWS = 200
# The part of the reviews with words that have photos, too.
PHOTOGRAPHED = 0.02


@dataclass(frozen=True)
class Taken:
    """The photos of one review: how many, whose review, and when it was written."""

    review_id: str
    author: str
    at: str
    count: int


@dataclass(frozen=True)
class Written:
    """The reviews of one place: their lines for COPY, how many gave one star, two, ... five, and what else is counted.

    `by_lang` has no stars without words.
    """

    lines: list[str]
    star_counts: tuple[int, int, int, int, int]
    by_lang: dict[str, int]
    with_reply: int
    taken: list[Taken]

    @property
    def count(self) -> int:
        return sum(self.star_counts)

    @property
    def facets(self) -> dict[str, object]:
        """As catalogue.reviews.aggregates counts them."""
        return {"by_lang": self.by_lang, "with_photos": len(self.taken), "with_reply": self.with_reply}

    @property
    def rating(self) -> str | None:
        """The mean of the stars, rounded half up to a tenth; None without reviews."""
        if not self.count:
            return None
        total = sum(stars * count for stars, count in enumerate(self.star_counts, start=1))
        tenths = (20 * total + self.count) // (2 * self.count)
        return f"{tenths // 10}.{tenths % 10}"


COLUMNS = (
    "id", "restaurant_id", "stars", "text", "lang", "author", "visited_on", "helpful_count",
    "photo_count", "owner_reply", "owner_replied_at", "source_id", "created_at",
)  # fmt: skip


def write(
    rng: random.Random,
    camera: random.Random,
    place: Place,
    *,
    restaurant_id: str,
    count: int,
    number: int,
    city: vocabulary.City,
    calendar: Calendar,
) -> Written:
    """Write `count` reviews, the first of which has this `number` in the whole run; `camera` says who took photos.

    This is the inner loop of millions of rows: it picks by index and joins text, at some 6 µs a review.
    """
    chance = rng.random
    known = vocabulary.languages()
    codes, stars_of, dates = city.languages, _stars(round(place.quality, 1)), calendar.dates
    since, days = place.since, calendar.last - place.since
    star_counts = [0] * 6
    by_lang: dict[str, int] = {}
    with_reply = 0
    taken: list[Taken] = []
    lines: list[str] = []
    for review_id in ids(rng, number, count):
        language = known[codes[int(chance() * 100)]]
        stars = stars_of[int(chance() * DRAWS)]
        star_counts[stars] += 1
        day = since + int(days * chance() ** 0.8)
        second = int(chance() * SECONDS)
        author = _pick(language.authors, chance())
        draw = chance()
        visited = dates[day - int(draw * 12)] if draw < 0.85 else "\\N"
        draw = chance()
        helpful = 0 if draw < 0.7 else min(250, int(0.4 / (1.0005 - draw)))
        text = _text(chance, language, stars, place.cuisine)
        at = f"{dates[day]} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}+00"
        photos = 0
        if text:
            by_lang[language.code] = by_lang.get(language.code, 0) + 1
            draw = camera.random()
            if draw < PHOTOGRAPHED:
                photos = 1 + int(3 * (draw / PHOTOGRAPHED) ** 2)
                taken.append(Taken(review_id, author, at, photos))
        reply, replied = "\\N", "\\N"
        if text and chance() < place.replies:
            with_reply += 1
            reply = _pick(language.reply[MOODS[stars]], chance()).replace("{author}", author)
            replied = f"{dates[min(calendar.last, day + 1 + int(chance() * 5))]} {10 + int(chance() * 9)}:30:00+00"
        lines.append(
            f"{review_id}\t{restaurant_id}\t{stars}\t{text}\t{language.code if text else ''}\t{author}\t{visited}"
            f"\t{helpful}\t{photos}\t{reply}\t{replied}\tdemo\t{at}\n"
        )
    return Written(
        lines,
        (star_counts[1], star_counts[2], star_counts[3], star_counts[4], star_counts[5]),
        by_lang,
        with_reply,
        taken,
    )


def _text(chance: Callable[[], float], language: vocabulary.Language, stars: int, cuisine: vocabulary.Cuisine) -> str:
    """One to four sentences in the mood of the stars; now and then stars alone."""
    shape = chance()
    if shape < 0.06:
        return ""
    mood = MOODS[stars]
    # Who gives four stars, or two, saw something of both sides.
    aside = 1 if stars in {2, 4} and chance() < 0.35 else mood
    before, after = _pick(language.dish[mood], chance())
    dish = f"{before}{_pick(cuisine.native.get(language.code, cuisine.dishes), chance())}{after}"
    if shape < 0.2:
        sentences = [dish]
    elif shape < 0.35:
        sentences = [dish, _pick(language.closing[mood], chance())]
    elif shape < 0.5:
        sentences = [_pick(language.opening[mood], chance()), dish]
    elif shape < 0.62:
        sentences = [_pick(language.opening[mood], chance()), _pick(language.service[aside], chance())]
    elif shape < 0.82:
        sentences = [
            _pick(language.opening[mood], chance()),
            dish,
            _pick(language.service[aside], chance()),
        ]
    else:
        sentences = [
            _pick(language.opening[mood], chance()),
            dish,
            _pick(language.service[aside], chance()),
            _pick(language.closing[mood], chance()),
        ]
    return language.space.join(sentences)


def _pick(choices: Sequence[T], draw: float) -> T:
    return choices[int(draw * len(choices))]


@cache
def _stars(quality: float) -> tuple[int, ...]:
    """A table of stars to draw from evenly, its mean the quality: a binomial heap, and some who adore or detest."""
    liking = (quality - 1) / 4
    heap = [math.comb(4, likes) * liking**likes * (1 - liking) ** (4 - likes) for likes in range(5)]
    shares = [0.85 * share for share in heap]
    shares[0] += 0.15 * (1 - liking)
    shares[4] += 0.15 * liking
    ends = [round(DRAWS * share) for share in accumulate(shares)]
    return tuple(stars for stars, (start, end) in enumerate(pairwise([0, *ends]), start=1) for _ in range(end - start))
