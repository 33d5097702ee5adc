"""What the categories of the large place collections mean: which places feed people, and with which cuisine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

# Words of OpenStreetMap for the kind of a place, which are those of `attributes.kind`.
RESTAURANT, CAFE, FAST_FOOD, BAR, PUB = "restaurant", "cafe", "fast_food", "bar", "pub"
ICE_CREAM, FOOD_COURT, BIERGARTEN = "ice_cream", "food_court", "biergarten"

# Kind and cuisine of what is not called some restaurant; what stands nowhere here feeds nobody.
PLACES: dict[str, tuple[str, str | None]] = {
    "eat_and_drink": (RESTAURANT, None),
    "food_and_drink": (RESTAURANT, None),
    "dining_and_drinking": (RESTAURANT, None),
    "restaurant": (RESTAURANT, None),
    "bistro": (RESTAURANT, "bistro"),
    "brasserie": (RESTAURANT, "brasserie"),
    "cafeteria": (RESTAURANT, None),
    "canteen": (RESTAURANT, None),
    "diner": (RESTAURANT, "american"),
    "gastropub": (PUB, None),
    "steakhouse": (RESTAURANT, "steak-house"),
    "steak_house": (RESTAURANT, "steak-house"),
    "soul_food": (RESTAURANT, "southern"),
    "tapas_bar": (RESTAURANT, "tapas"),
    "sushi_bar": (RESTAURANT, "sushi"),
    "salad_bar": (RESTAURANT, "salad"),
    "salad_shop": (RESTAURANT, "salad"),
    "izakaya": (RESTAURANT, "izakaya"),
    "pizzeria": (RESTAURANT, "pizza"),
    "fish_and_chips": (FAST_FOOD, "fish-and-chips"),
    "bbq_joint": (RESTAURANT, "barbecue"),
    "burger_joint": (RESTAURANT, "burger"),
    "fried_chicken_joint": (FAST_FOOD, "fried-chicken"),
    "wings_joint": (FAST_FOOD, "chicken"),
    "hot_dog_joint": (FAST_FOOD, "hot-dog"),
    "friterie": (FAST_FOOD, None),
    "snack_bar": (FAST_FOOD, None),
    "snack_place": (FAST_FOOD, None),
    "food_truck": (FAST_FOOD, None),
    "food_stand": (FAST_FOOD, None),
    "food_court": (FOOD_COURT, None),
    "sandwich_shop": (FAST_FOOD, "sandwich"),
    "sandwich_place": (FAST_FOOD, "sandwich"),
    "delicatessen": (FAST_FOOD, "deli"),
    "deli": (FAST_FOOD, "deli"),
    "cafe": (CAFE, "cafe"),
    "coffee_shop": (CAFE, "coffee-shop"),
    "cafe,_coffee,_and_tea_house": (CAFE, "cafe"),
    "internet_cafe": (CAFE, "cafe"),
    "tea_room": (CAFE, "tea"),
    "bubble_tea": (CAFE, "bubble-tea"),
    "bubble_tea_shop": (CAFE, "bubble-tea"),
    "smoothie_juice_bar": (CAFE, "juice"),
    "smoothie_shop": (CAFE, "juice"),
    "juice_bar": (CAFE, "juice"),
    "milk_bar": (CAFE, None),
    "bagel_shop": (CAFE, "bagel"),
    "donuts": (CAFE, "donut"),
    "donut_shop": (CAFE, "donut"),
    "desserts": (CAFE, "dessert"),
    "dessert_shop": (CAFE, "dessert"),
    "cupcake_shop": (CAFE, "cake"),
    "creperie": (CAFE, "crepe"),
    "waffle_shop": (CAFE, "waffle"),
    "ice_cream_shop": (ICE_CREAM, "ice-cream"),
    "ice_cream_parlor": (ICE_CREAM, "ice-cream"),
    "ice_cream_and_frozen_yoghurt": (ICE_CREAM, "ice-cream"),
    "frozen_yoghurt_shop": (ICE_CREAM, "frozen-yogurt"),
    "frozen_yogurt_shop": (ICE_CREAM, "frozen-yogurt"),
    "gelato": (ICE_CREAM, "ice-cream"),
    "gelato_shop": (ICE_CREAM, "ice-cream"),
    "bar": (BAR, "bar"),
    "beer_bar": (BAR, "bar"),
    "beer_garden": (BIERGARTEN, None),
    "champagne_bar": (BAR, "bar"),
    "cocktail_bar": (BAR, "bar"),
    "dive_bar": (BAR, "bar"),
    "gay_bar": (BAR, "bar"),
    "hookah_bar": (BAR, "bar"),
    "hotel_bar": (BAR, "bar"),
    "lounge": (BAR, "bar"),
    "piano_bar": (BAR, "bar"),
    "sake_bar": (BAR, "bar"),
    "speakeasy": (BAR, "bar"),
    "sports_bar": (BAR, "bar"),
    "tiki_bar": (BAR, "bar"),
    "whiskey_bar": (BAR, "bar"),
    "wine_bar": (BAR, "wine-bar"),
    "brewery": (PUB, "pub"),
    "brewpub": (PUB, "pub"),
    "irish_pub": (PUB, "irish"),
    "pub": (PUB, "pub"),
}
# Beneath "Dining and Drinking", but shops, makers and services.
OTHERS = frozenset(
    [
        "bakery",
        "caterer",
        "chocolatier",
        "cidery",
        "distillery",
        "food_delivery_service",
        "meadery",
        "night_market",
        "pizza_delivery_service",
        "winery",
        "vineyard",
        "coffee_roastery",
    ]
)
# Of `x_restaurant`, the cuisine that is not called x; None where x is no cuisine at all.
CUISINES: dict[str, str | None] = {
    "argentine": "argentinian",
    "asian_fusion": "fusion",
    "bbq": "barbecue",
    "bar_and_grill": None,
    "breakfast_and_brunch": "breakfast",
    "buffet": None,
    "cajun_and_creole": "cajun",
    "chicken_wings": "chicken",
    "comfort_food": None,
    "dumpling": "dumplings",
    "family_style": None,
    "fast_food": None,
    "fondue": "fondue",
    "gluten_free": None,
    "halal": None,
    "health_food": None,
    "hot_pot": "hotpot",
    "kosher": None,
    "live_and_raw_food": None,
    "new_american": "american",
    "noodles": "noodle",
    "pan_asian": "asian",
    "persian_iranian": "persian",
    "pop_up": None,
    "scandinavian": "nordic",
    "steak": "steak-house",
    "texmex": "tex-mex",
    "theme": None,
    "vegan_and_vegetarian": "vegetarian",
}
DIETS = {"gluten_free": "diet_gluten_free", "halal": "diet_halal", "kosher": "diet_kosher", "vegan": "diet_vegan"}
KINDS = {"fast_food": FAST_FOOD}

_SUFFIX = "_restaurant"


@dataclass(frozen=True, slots=True)
class Kitchen:
    """A place that feeds people: `kind` in the words of OpenStreetMap, the main cuisine first."""

    kind: str
    cuisines: tuple[str, ...] = ()
    diets: frozenset[str] = field(default_factory=frozenset)

    @property
    def attributes(self) -> dict[str, bool | str]:
        """What it says of the restaurant's attributes."""
        return {"kind": self.kind, **dict.fromkeys(sorted(self.diets), True)}


@lru_cache(maxsize=10_000)
def kitchen(*path: str) -> Kitchen | None:
    """The kitchen of a category with all that it lies beneath, the widest first; None when it feeds nobody.

    A German restaurant beneath the European ones has the German cuisine, a strange one that of the wider category.
    """
    words = [each.strip().casefold().replace(" ", "_").replace("é", "e") for each in path]
    if not words or words[-1] in OTHERS:
        return None
    read = [each for each in map(_one, reversed(words)) if each]
    if not read:
        return None
    cuisines = next((each.cuisines for each in read if each.cuisines), ())
    return Kitchen(read[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in read)))


def kitchens(paths: Sequence[Sequence[str]]) -> Kitchen | None:
    """One kitchen of several categories: the kind of the first that feeds people, and the cuisines of all of them."""
    read = [each for each in (kitchen(*path) for path in paths) if each]
    if not read:
        return None
    cuisines = tuple(dict.fromkeys(cuisine for each in read for cuisine in each.cuisines))
    return Kitchen(read[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in read)))


def label(cuisine: str) -> str:
    """How a cuisine is shown that the dictionary does not have yet: "Puerto Rican"."""
    return cuisine.replace("-", " ").title()


def _one(word: str) -> Kitchen | None:
    if word in PLACES:
        kind, cuisine = PLACES[word]
        return Kitchen(kind, (cuisine,) if cuisine else ())
    if not word.endswith(_SUFFIX):
        return None
    what = word.removesuffix(_SUFFIX)
    cuisine = CUISINES[what] if what in CUISINES else what.replace("_", "-")
    diet = DIETS.get(what)
    return Kitchen(KINDS.get(what, RESTAURANT), (cuisine,) if cuisine else (), frozenset((diet,) if diet else ()))
