"""Analysis of reviews by sentence: by lexicon in LANGUAGES, else by stars and dish names only."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from catalogue.insights.analysis import dish_names, noun_phrases, sentiment
from catalogue.insights.analysis.aspect_lexicon import (
    ENGLISH,
    LANGUAGES,
    AspectLexicon,
    common_english_words,
    fold_case,
    load_features,
    load_lexicon,
)
from catalogue.insights.analysis.dish_learning import DishLearner
from catalogue.insights.analysis.dish_names import WORD, FoodVocabulary, Token
from catalogue.insights.guardrails.prompt_injection import is_suspicious, visible_text
from catalogue.insights.providers.base import MAX_CITATIONS, Claim, ReviewInput

# Text after it is not analyzed.
MAX_CHARS = 5_000
SENTENCE = re.compile(r"[^.!?\n\u3002\uff01\uff1f]{1,400}[.!?\u3002\uff01\uff1f]*")
# A text of unknown language with so many common English words is English.
MIN_COMMON_WORDS = 2
# Names of dishes, of staff and of what a place has are learned from reviews of so many stars.
MIN_LEARNING_STARS = 4
STAFF_BY_NAME = "staff thanked by name"
LONG_WAITS, SLOW_SERVICE, RUSHED = "long waits", "slow service", "being rushed"
CAPITALIZED = re.compile(r"\b[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]{2,}")


@dataclass(slots=True)
class MentionTally:
    """The reviews that mention something, newest first, with the sum of their polarities.

    `praising` are those whose words praise it, whatever the stars.
    """

    polarities: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    praising: set[str] = field(default_factory=set)

    def add(self, review: ReviewInput, polarity: float) -> None:
        """Add a mention. Several mentions in one review count as one."""
        self.polarities[review.id] += polarity
        if polarity - sentiment.star_polarity(review.stars) > sentiment.POLARITY_THRESHOLD:
            self.praising.add(review.id)

    def to_claim(self, name: str) -> Claim:
        """The claim that these reviews support. Of one that most praise, those that do so in words are cited first."""
        positive = sum(polarity > sentiment.POLARITY_THRESHOLD for polarity in self.polarities.values())
        reviews = list(self.polarities)
        if 2 * positive > len(reviews):
            first = sorted(reviews, key=lambda review: review not in self.praising)[:MAX_CITATIONS]
            reviews = [review for review in reviews if review in set(first)]
        citations = tuple(reviews[:MAX_CITATIONS])
        return Claim(name, mentions=len(self.polarities), positive=positive, citations=citations)


@dataclass(slots=True)
class ReviewAnalysis:
    """The mentions in a set of reviews, and the number of analyzed reviews by language.

    The others are in other languages, `without_text`, or `suspicious`. `dishes` are all parts of runs of food words
    that are names, `suspicious_dishes` how many suspicious reviews name one, and `foods` in how many reviews each food
    word is. `phrases` are the nouns of good English reviews, `crowds` what reviews say of full and empty days, and
    `menu` the keys of dishes that the menu has and the lexicon has not.
    """

    languages: Counter[str] = field(default_factory=Counter)
    without_text: int = 0
    suspicious: int = 0
    dishes: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    parts: dict[str, tuple[Token, ...]] = field(default_factory=dict)
    spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    suspicious_dishes: Counter[str] = field(default_factory=Counter)
    foods: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    aspects: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    watch_outs: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    features: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    times: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    menu: frozenset[str] = frozenset()
    crowds: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))
    phrases: dict[str, MentionTally] = field(default_factory=lambda: defaultdict(MentionTally))

    @property
    def analyzed(self) -> int:
        """The number of reviews whose text was analyzed."""
        return self.languages.total()

    def add_dishes(self, review: ReviewInput, sentence: str, run: Sequence[Token], polarity: float) -> None:
        """Add the dishes of a run of food words and their spellings."""
        for token in run:
            self.foods[token.text].add(review.id)
        for part in dish_names.find_parts(run):
            key = " ".join(token.text for token in part)
            self.dishes[key].add(review, polarity)
            self.parts.setdefault(key, tuple(part))
            written = sentence[part[0].start : part[-1].end]
            written = written if dish_names.IS_LATIN.match(written) else key
            # The first word of a sentence has a capital, so it says nothing about the spelling.
            is_first = not part[0].start and review.lang[:2] == ENGLISH
            self.spellings[key][written[0].lower() + written[1:] if is_first else written] += not is_first

    def add_phrases(self, sentence: "_Sentence", *, excluded: Set[str]) -> None:
        """Add the nouns of a sentence of a good English review, without those that contain an excluded word."""
        if sentence.lang != ENGLISH or sentence.review.stars < MIN_LEARNING_STARS:
            return
        polarity = sentiment.star_polarity(sentence.review.stars)
        for phrase, written in noun_phrases.find_phrases(sentence.text, sentence.tokens):
            if excluded.isdisjoint(phrase.split()):
                self.phrases[phrase].add(sentence.review, polarity)
                self.spellings[phrase][written] += 1


@dataclass(frozen=True, slots=True)
class _Sentence:
    review: ReviewInput
    lang: str
    text: str
    tokens: Sequence[Token]


def analyze_reviews(
    reviews: Sequence[ReviewInput], *, restaurant: str = "", menu: Sequence[str] = ()
) -> ReviewAnalysis:
    """Analyze reviews in their order, twice: first to learn names of dishes. About a millisecond for each.

    The name of the restaurant in a text is no mention of a dish. What is on its `menu` is one.
    """
    analysis = ReviewAnalysis()
    own_name = _compile_own_name(restaurant)
    suspicious = {review.id: visible_text(review.text[:MAX_CHARS]) for review in reviews if is_suspicious(review.text)}
    analysis.suspicious = len(suspicious)
    plain = [review for review in reviews if review.id not in suspicious]
    vocabulary, analysis.menu = dish_names.add_menu(dish_names.load_vocabulary(), menu)
    sentences = list(_read_sentences(analysis, plain, own_name, vocabulary))
    # Neither the restaurant's name nor what suspicious reviews write is learned.
    texts = (restaurant, *suspicious.values())
    excluded = {dish_names.normalize_word(word) for text in texts for word in WORD.findall(text)}
    learned = _learn_words(sentences, excluded=excluded)
    for sentence in sentences:
        runs = list(_find_runs(sentence.text, sentence.tokens, learned))
        if sentence.lang:
            _analyze_sentence(analysis, sentence, load_lexicon(sentence.lang), runs)
            analysis.add_phrases(sentence, excluded=excluded | learned.keys())
            continue
        polarity = sentiment.star_polarity(sentence.review.stars)
        for run in runs:
            analysis.add_dishes(sentence.review, sentence.text, run, polarity)
    _add_staff(analysis, sentences, own_words=set(restaurant.split()))
    for text in suspicious.values():
        parts = (part for run in _find_text_runs(text) for part in dish_names.find_parts(run))
        analysis.suspicious_dishes.update({" ".join(token.text for token in part) for part in parts})
    return analysis


def _add_staff(analysis: ReviewAnalysis, sentences: Sequence[_Sentence], *, own_words: Set[str]) -> None:
    """Count all good reviews that name a person whom one review thanks as staff."""
    thanked = analysis.features.get(STAFF_BY_NAME)
    (feature,) = (feature for feature in load_features() if feature.name == STAFF_BY_NAME)
    if not thanked:
        return
    good = [
        sentence
        for sentence in sentences
        if sentence.lang in feature.patterns and sentence.review.stars >= MIN_LEARNING_STARS
    ]
    found = (
        match[0]
        for sentence in good
        if sentence.review.id in thanked.polarities
        for match in feature.patterns[sentence.lang].finditer(sentence.text)
    )
    names = {capitalized[-1] for text in found if (capitalized := CAPITALIZED.findall(text))} - own_words
    names = {name for name in names if dish_names.normalize_word(name) not in dish_names.common_words()}
    if not names:
        return
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    polarities = dict(thanked.polarities)
    for sentence in good:
        if pattern.search(sentence.text):
            polarities.setdefault(sentence.review.id, sentiment.star_polarity(sentence.review.stars))
    order = {sentence.review.id: None for sentence in sentences if sentence.review.id in polarities}
    tally = MentionTally({review: polarities[review] for review in order}, thanked.praising)
    analysis.features[STAFF_BY_NAME] = tally


def split_sentences(text: str) -> list[str]:
    """The sentences of the first MAX_CHARS characters, without invisible characters."""
    return [sentence.strip() for sentence in SENTENCE.findall(visible_text(text[:MAX_CHARS]))]


def find_dish_keys(text: str) -> set[str]:
    """The keys of the dishes that a review mentions."""
    return {mention.key for sentence in split_sentences(text) for mention in dish_names.find_dishes(sentence)}


def find_features(text: str, *, lang: str) -> set[str]:
    """The names of the features that a text in one of LANGUAGES speaks of."""
    found: set[str] = set()
    if lang[:2] in LANGUAGES and not is_suspicious(text):
        for sentence in split_sentences(text):
            found |= _find_features(sentence, lang=lang[:2], lexicon=load_lexicon(lang[:2])).keys()
    return found


def find_noun_phrases(text: str, *, lang: str) -> set[str]:
    """The nouns of an English text; see noun_phrases."""
    if lang[:2] != ENGLISH or is_suspicious(text):
        return set()
    vocabulary = dish_names.load_vocabulary()
    return {
        phrase
        for sentence in split_sentences(text)
        for phrase, _ in noun_phrases.find_phrases(sentence, list(dish_names.tokenize(sentence, vocabulary)))
    }


def _find_features(sentence: str, *, lang: str, lexicon: AspectLexicon) -> dict[str, int]:
    """The offset of each feature in a sentence."""
    folded = fold_case(sentence)
    found: dict[str, int] = {}
    for feature in load_features():
        if lang in feature.patterns:
            start = lexicon.find_feature(feature.patterns[lang], sentence if feature.case_sensitive else folded)
            if start is not None:
                found[feature.name] = start
    return found


def analyzed_language(review: ReviewInput) -> str:
    """The language of a review if it has a text in one of LANGUAGES, else empty."""
    if not review.text.strip():
        return ""
    if review.lang:
        lang = review.lang[:2].lower()
        return lang if lang in LANGUAGES else ""
    words = set(review.text[:MAX_CHARS].lower().split())
    return ENGLISH if len(words & common_english_words()) >= MIN_COMMON_WORDS else ""


def _read_sentences(
    analysis: ReviewAnalysis,
    reviews: Sequence[ReviewInput],
    own_name: re.Pattern[str] | None,
    vocabulary: FoodVocabulary,
) -> Iterator[_Sentence]:
    """Count the reviews by language, and yield their sentences without the restaurant's name."""
    for review in reviews:
        lang = analyzed_language(review)
        if lang:
            analysis.languages[lang] += 1
        elif not review.text.strip():
            analysis.without_text += 1
        is_english = lang == ENGLISH or not review.lang
        min_folded = dish_names.MIN_FOLDED_LENGTH if is_english else dish_names.MIN_FOREIGN_FOLDED_LENGTH
        for text in split_sentences(review.text):
            text = own_name.sub("|", text) if own_name else text
            tokens = list(dish_names.tokenize(text, vocabulary, min_folded=min_folded))
            yield _Sentence(review, lang, text, tokens)


def _compile_own_name(name: str) -> re.Pattern[str] | None:
    """A pattern of the restaurant's name; None if it has one word, or names a dish and nothing else."""
    words = name.split()
    kinds = dish_names.load_vocabulary().kinds
    if len(words) < 2 or all(kinds.get(dish_names.normalize_word(word)) for word in words):
        return None
    return re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE)


def _learn_words(sentences: Sequence[_Sentence], *, excluded: Set[str]) -> dict[str, str]:
    """The kinds of words that the lexicon does not have, from good reviews: bad ones name what was in the food."""
    learner = DishLearner()
    good = [
        sentence for sentence in sentences if sentence.lang == ENGLISH and sentence.review.stars >= MIN_LEARNING_STARS
    ]
    for sentence in good:
        learner.add(sentence.review.id, sentence.text, sentence.tokens)
    return learner.learn(reviews=len({sentence.review.id for sentence in good}), excluded=excluded)


def _find_text_runs(text: str) -> Iterator[list[Token]]:
    return _find_runs(text, list(dish_names.tokenize(text, dish_names.load_vocabulary())), {})


def _find_runs(text: str, tokens: Sequence[Token], learned: Mapping[str, str]) -> Iterator[list[Token]]:
    """The runs of food words; a name in Chinese or Japanese characters is one of its English words."""
    if learned:
        tokens = [token if token.kind else token._replace(kind=learned.get(token.text)) for token in tokens]
    yield from dish_names.find_runs(text, tokens)
    for mention in dish_names.find_cjk_dishes(text):
        words = list(dish_names.tokenize(mention.name, dish_names.load_vocabulary()))
        # A name of the list is a dish, whatever its words are.
        kinds = ["kind"] * (len(words) - 1) + ["dish"]
        kinds = [word.kind or kind for word, kind in zip(words, kinds, strict=True)]
        if "dish" not in kinds:
            kinds[-1] = "dish"
        yield [Token(w.text, mention.start, mention.end, kind) for w, kind in zip(words, kinds, strict=True)]


def _analyze_sentence(
    analysis: ReviewAnalysis, sentence: _Sentence, lexicon: AspectLexicon, runs: Sequence[Sequence[Token]]
) -> None:
    review, text = sentence.review, sentence.text
    dishes = [run for run in runs if any(True for _ in dish_names.find_parts(run))]
    folded = fold_case(text)
    aspects = {name: match.start() for name, words in lexicon.aspects.items() if (match := words.search(folded))}
    if dishes:
        aspects.setdefault("food", dishes[0][0].start)
    times = {name: match.start() for name, words in lexicon.times.items() if (match := words.search(folded))}
    complaints: dict[str, int] = {}
    features: dict[str, int] = {}
    if not lexicon.is_about_another_place(folded):
        complaints = (
            {}
            if lexicon.only_praises(text, stars=review.stars)
            else {
                name: start
                for name in lexicon.watch_outs
                if (start := lexicon.find_complaint(name, folded, stars=review.stars)) is not None
            }
        )
        # Who is sent away after an hour has not waited.
        if RUSHED in complaints:
            complaints.pop(LONG_WAITS, None)
        features = _find_features(text, lang=sentence.lang, lexicon=lexicon)
        for crowd in lexicon.find_crowds(folded):
            analysis.crowds[crowd].add(review, 0.0)
    for run in runs:
        if run not in dishes:
            for token in run:
                analysis.foods[token.text].add(review.id)
    if not (aspects or times or complaints or features):
        return
    # Words in dish names have no polarity: devilled, sour, burnt. The mask has the same length.
    masked = text
    for run in dishes:
        start, end = run[0].start, run[-1].end
        masked = f"{masked[:start]}{'dish':{end - start}.{end - start}}{masked[end:]}"
    places = (*aspects.values(), *times.values(), *complaints.values(), *features.values())
    starts = sorted({*(run[0].start for run in dishes), *places})
    polarities = lexicon.clause_polarities(masked, starts, stars=review.stars)
    polarity_at = dict(zip(starts, polarities, strict=True))
    for run in dishes:
        analysis.add_dishes(review, text, run, polarity_at[run[0].start])
    for name, start in aspects.items():
        analysis.aspects[name].add(review, polarity_at[start])
    for name, start in complaints.items():
        if lexicon.is_complaint(masked, start, polarity_at[start], stars=review.stars):
            analysis.watch_outs[name].add(review, polarity_at[start])
    for name, start in features.items():
        if polarity_at[start] >= -sentiment.POLARITY_THRESHOLD:
            analysis.features[name].add(review, polarity_at[start])
    if not times or lexicon.negation.search(text) or lexicon.hedge.search(text):
        return
    for name, start in times.items():
        if polarity_at[start] > sentiment.POLARITY_THRESHOLD:
            analysis.times[name].add(review, polarity_at[start])
