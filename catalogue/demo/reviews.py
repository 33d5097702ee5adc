"""Generated reviews: stars follow the quality of the restaurant, texts follow the stars."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TypeVar

from catalogue.demo import vocabulary
from catalogue.demo.places import Place
from catalogue.demo.plan import Calendar, generate_ids

T = TypeVar("T")

MOOD_OF_STARS = (0, 0, 0, 1, 2, 2)
SECONDS_PER_DAY = 86_400
STAR_TABLE_SIZE = 200
# Share of the reviews with text that have photos.
WITH_PHOTOS = 0.02


@dataclass(frozen=True)
class ReviewPhotos:
    """The number of photos of one review, with the review's author and moment."""

    review_id: str
    author: str
    created_at: str
    count: int


@dataclass(frozen=True)
class ReviewRows:
    """The reviews of one restaurant as lines for COPY, and the figures that the restaurant's row has of them.

    `star_counts` are the reviews with one star, two, ... five. `count_by_lang` leaves out reviews without text.
    """

    lines: list[str]
    star_counts: tuple[int, int, int, int, int]
    count_by_lang: dict[str, int]
    reply_count: int
    photos: list[ReviewPhotos]

    @property
    def count(self) -> int:
        return sum(self.star_counts)

    @property
    def facets(self) -> dict[str, object]:
        """The column `review_facets`, as catalogue.reviews.aggregates computes it."""
        return {"by_lang": self.count_by_lang, "with_photos": len(self.photos), "with_reply": self.reply_count}

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


def generate_reviews(
    rng: random.Random,
    photo_rng: random.Random,
    place: Place,
    *,
    restaurant_id: str,
    count: int,
    first: int,
    city: vocabulary.City,
    calendar: Calendar,
) -> ReviewRows:
    """Generate `count` reviews; `first` is the number of the first one in the whole run.

    This is the inner loop of millions of rows. It picks by index and joins text, at some 6 µs a review.
    """
    chance = rng.random
    languages = vocabulary.languages()
    codes, star_table, dates = city.languages, _star_table(round(place.quality, 1)), calendar.dates
    days = calendar.last - place.created
    star_counts = [0] * 6
    count_by_lang: dict[str, int] = {}
    reply_count = 0
    photos: list[ReviewPhotos] = []
    lines: list[str] = []
    for review_id in generate_ids(rng, first, count):
        language = languages[codes[int(chance() * 100)]]
        stars = star_table[int(chance() * STAR_TABLE_SIZE)]
        star_counts[stars] += 1
        day = place.created + int(days * chance() ** 0.8)
        second = int(chance() * SECONDS_PER_DAY)
        author = _pick(language.authors, chance())
        draw = chance()
        visited_on = dates[day - int(draw * 12)] if draw < 0.85 else "\\N"
        draw = chance()
        helpful_count = 0 if draw < 0.7 else min(250, int(0.4 / (1.0005 - draw)))
        text = _generate_text(chance, language, stars, place.cuisine)
        created_at = f"{dates[day]} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}+00"
        photo_count = 0
        if text:
            count_by_lang[language.code] = count_by_lang.get(language.code, 0) + 1
            draw = photo_rng.random()
            if draw < WITH_PHOTOS:
                photo_count = 1 + int(3 * (draw / WITH_PHOTOS) ** 2)
                photos.append(ReviewPhotos(review_id, author, created_at, photo_count))
        reply, replied_at = "\\N", "\\N"
        if text and chance() < place.reply_rate:
            reply_count += 1
            reply = _pick(language.reply[MOOD_OF_STARS[stars]], chance()).replace("{author}", author)
            replied_at = f"{dates[min(calendar.last, day + 1 + int(chance() * 5))]} {10 + int(chance() * 9)}:30:00+00"
        lines.append(
            f"{review_id}\t{restaurant_id}\t{stars}\t{text}\t{language.code if text else ''}\t{author}\t{visited_on}"
            f"\t{helpful_count}\t{photo_count}\t{reply}\t{replied_at}\tdemo\t{created_at}\n"
        )
    return ReviewRows(
        lines,
        (star_counts[1], star_counts[2], star_counts[3], star_counts[4], star_counts[5]),
        count_by_lang,
        reply_count,
        photos,
    )


def _generate_text(
    chance: Callable[[], float], language: vocabulary.Language, stars: int, cuisine: vocabulary.Cuisine
) -> str:
    """One to four sentences in the mood of the stars; no text in 6 of 100 reviews."""
    shape = chance()
    if shape < 0.06:
        return ""
    mood = MOOD_OF_STARS[stars]
    # Some reviews with four or two stars mention a mixed impression of the service.
    service_mood = 1 if stars in {2, 4} and chance() < 0.35 else mood
    before, after = _pick(language.dish[mood], chance())
    dish = f"{before}{_pick(cuisine.native_dishes.get(language.code, cuisine.dishes), chance())}{after}"
    sentences = []
    if shape >= 0.35:
        sentences.append(_pick(language.opening[mood], chance()))
    if not 0.5 <= shape < 0.62:
        sentences.append(dish)
    if shape >= 0.5:
        sentences.append(_pick(language.service[service_mood], chance()))
    if 0.2 <= shape < 0.35 or shape >= 0.82:
        sentences.append(_pick(language.closing[mood], chance()))
    return language.space.join(sentences)


def _pick(choices: Sequence[T], draw: float) -> T:
    return choices[int(draw * len(choices))]


@cache
def _star_table(quality: float) -> tuple[int, ...]:
    """Stars to pick from evenly, with `quality` as their mean: 85 % binomial, 15 % one star or five."""
    share_of_likes = (quality - 1) / 4
    binomial = [
        math.comb(4, likes) * share_of_likes**likes * (1 - share_of_likes) ** (4 - likes) for likes in range(5)
    ]
    shares = [0.85 * share for share in binomial]
    shares[0] += 0.15 * (1 - share_of_likes)
    shares[4] += 0.15 * share_of_likes
    ends = [round(STAR_TABLE_SIZE * share) for share in accumulate(shares)]
    return tuple(stars for stars, (start, end) in enumerate(pairwise([0, *ends]), start=1) for _ in range(end - start))
