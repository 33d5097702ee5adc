"""What a generated photo shows: the scene that is painted, and words that say no more than can be seen."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalogue import painting

# Dishes that a scene shows as they are; the photo of any other dish is one of the kitchen's scenes, in plain words.
DISHES = {
    "ramen": ("tonkotsu ramen", "shoyu ramen", "ramen"),
    "salami pizza": ("diavola", "nduja pizza"),
    "tomato pizza": ("margherita",),
    "olive pizza": ("capricciosa",),
    "white pizza": ("pizza bianca",),
    "salad": ("Greek salad", "seasonal salad"),
    "salmon": ("grilled salmon",),
    "steak": ("ribeye", "filet mignon", "hanger steak", "bife de chorizo", "entraña"),
    "red pasta": ("amatriciana",),
    "orange curry": ("butter chicken", "vegetable curry", "paneer curry"),
    "red curry": ("lamb rogan josh", "beef curry", "keema curry", "lamb karahi", "curry goat"),
    "green curry": ("palak paneer", "green curry"),
    "yellow curry": ("massaman curry",),
    "sushi": ("omakase",),
    "tacos": ("tacos al pastor", "wagyu tacos", "jackfruit tacos"),
    "dumplings": ("pork and chive dumplings", "soup dumplings", "xiao long bao", "khinkali", "momo"),
    "burger": (
        *("double cheeseburger", "smash burger", "mushroom burger", "bacon burger", "veggie burger", "beef burger"),
        *("halloumi burger", "beetroot burger", "camel burger"),
    ),
}
SCENES = {dish: scene for scene, dishes in DISHES.items() for dish in dishes}

NOODLES, CURRIES = ("ramen",), ("orange curry", "red curry", "yellow curry")
GRILLED, SWEET = ("steak", "salad"), ("tart",)
PIZZAS, PASTAS = ("tomato pizza", "salami pizza", "olive pizza"), ("red pasta", "green pasta", "white pasta")
ANY_FOOD = ("steak", "salmon", "salad")
KITCHENS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("italian", "pasta"), PASTAS),
    "pizza": PIZZAS,
    **dict.fromkeys(("burger", "american", "hot-dog", "fried-chicken", "sandwich", "deli"), ("burger", "salad")),
    **dict.fromkeys(("coffee-shop", "cafe", "bakery", "crepe", "ice-cream", "dessert", "donut", "tea"), SWEET),
    **dict.fromkeys(("juice", "salad", "vegan", "vegetarian", "brunch", "breakfast", "bagel"), ("salad",)),
    **dict.fromkeys(("bar", "pub", "barbecue", "steak-house", "argentinian", "brazilian"), ("steak", "burger")),
    **dict.fromkeys(("fish-and-chips", "seafood", "nordic", "danish", "poke"), ("salmon",)),
    **dict.fromkeys(("greek", "mediterranean", "turkish", "kebab", "lebanese", "middle-eastern"), GRILLED),
    **dict.fromkeys(("arab", "emirati", "syrian", "persian", "moroccan", "polish", "german"), GRILLED),
    **dict.fromkeys(("indian", "pakistani", "nepalese", "curry", "caribbean", "ethiopian"), CURRIES),
    **dict.fromkeys(("noodle", "ramen", "udon", "asian", "korean", "thai", "vietnamese"), NOODLES),
    **dict.fromkeys(("chinese", "dim-sum", "dumplings", "hotpot", "taiwanese", "georgian"), ("dumplings",)),
    **dict.fromkeys(("malaysian", "indonesian", "peranakan", "filipino"), ("ramen", "yellow curry")),
    **dict.fromkeys(("japanese", "sushi", "izakaya", "yakitori", "tempura"), ("sushi", "salmon")),
    "mexican": ("tacos",),
}

COFFEE, PALE, WINES = ("coffee",), ("beer",), ("red wine", "white wine", "pink wine")
ANY_DRINK = (*WINES, "long drink", "beer", "coffee")
BARS: Mapping[str, Sequence[str]] = {
    "bar": ("cocktail", "cocktail", "long drink", "beer"),
    "pub": ("beer", "dark beer"),
    "wine-bar": WINES,
    **dict.fromkeys(("coffee-shop", "cafe", "bakery", "breakfast", "donut"), COFFEE),
    **dict.fromkeys(("tea", "juice", "ice-cream", "dessert", "salad", "arab", "emirati"), ("long drink", "coffee")),
    **dict.fromkeys(("ramen", "izakaya", "yakitori", "korean", "german", "burger", "barbecue"), PALE),
}

SEEN = {
    "food": {
        "ramen": "a bowl of noodles",
        **dict.fromkeys(("salami pizza", "tomato pizza", "olive pizza", "white pizza"), "a pizza on a board"),
        "salad": "a salad with tomatoes and cucumber",
        "salmon": "salmon with vegetables",
        "steak": "a steak with vegetables",
        **dict.fromkeys(PASTAS, "a plate of pasta with basil"),
        **dict.fromkeys(("orange curry", "red curry", "green curry", "yellow curry"), "a curry with rice and bread"),
        "sushi": "nigiri and maki",
        "tacos": "three tacos",
        "tart": "a tart with fruit",
        "dumplings": "dumplings in a steamer",
        "burger": "a burger and a bowl of chips",
    },
    "drink": {
        "coffee": "a cup of coffee with milk",
        "cocktail": "a cocktail",
        "long drink": "a long drink with ice and mint",
        "red wine": "two glasses of red wine",
        "white wine": "two glasses of white wine",
        "pink wine": "two glasses of rosé",
        "beer": "a mug of beer",
        "dark beer": "a mug of dark beer",
    },
}
FROM_ABOVE = ("{}, seen from above", "{} on a table, seen from above")
WITH_CHOPSTICKS = (*FROM_ABOVE, "{}, with chopsticks beside it")
WITH_CUTLERY = (*FROM_ABOVE, "{}, with fork and knife beside the plate")
SERVED = {
    **dict.fromkeys(("ramen", "sushi", "dumplings"), WITH_CHOPSTICKS),
    **dict.fromkeys(("salad", "salmon", "steak", *PASTAS), WITH_CUTLERY),
}
ON_THE_BAR = ("{} on the bar", "{}, close up, on the bar")
ROOMS = {
    "interior": {
        "windows": ("The dining room of {}", "Tables by the windows of {}"),
        "pictures": ("The dining room of {}", "Tables and pictures on the wall at {}"),
    },
    "exterior": {
        "day": ("The front of {} by day", "The awning and the door of {}"),
        "evening": ("The front of {} in the evening", "The awning and the door of {} in the evening"),
    },
    "menu": {"card": ("The menu of {} on a table", "A page of the menu of {}")},
}


@dataclass(frozen=True)
class Shot:
    """A photo's number, and what is said of it; `subject` is the dish or the drink, None of rooms."""

    art: int
    subject: str | None
    alt: str


def shot(rng: random.Random, *, kind: str, cuisine: str, dishes: Sequence[str], name: str) -> Shot:
    """A photo of a place of this name and kitchen; only what its scene shows is said."""
    if kind == "food":
        dish = rng.choice(dishes)
        scene = SCENES.get(dish) or rng.choice(KITCHENS.get(cuisine, ANY_FOOD))
        subject = dish if dish in SCENES else SEEN[kind][scene]
        alt = rng.choice(SERVED.get(scene, FROM_ABOVE)).format(subject)
    elif kind == "drink":
        scene = rng.choice(BARS.get(cuisine, ANY_DRINK))
        subject = SEEN[kind][scene]
        alt = rng.choice(FROM_ABOVE if scene == "coffee" else ON_THE_BAR).format(subject)
    else:
        scene = rng.choice(painting.NAMES[kind])
        subject, alt = None, rng.choice(ROOMS[kind][scene]).format(name)
    art = painting.art_of(scene, kind=kind, variation=rng.getrandbits(42))
    return Shot(art, subject and capital(subject), capital(alt) if subject else alt)


def capital(text: str) -> str:
    """The text with its first letter large."""
    return text[0].upper() + text[1:]
