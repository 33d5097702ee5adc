"""Maps the categories of the large place collections to eateries and cuisines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

# The kinds of OpenStreetMap, which are the values of `attributes.kind`.
RESTAURANT, CAFE, FAST_FOOD, BAR, PUB = "restaurant", "cafe", "fast_food", "bar", "pub"
ICE_CREAM, FOOD_COURT, BIERGARTEN = "ice_cream", "food_court", "biergarten"

# Kind and cuisine of the categories not named `x_restaurant`; any other category is no eatery.
CATEGORIES: dict[str, tuple[str, str | None]] = {
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
# Categories under "Dining and Drinking" that are shops, producers and services.
EXCLUDED = frozenset(
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
# The cuisine of `x_restaurant` where it is not called x; None if x is no cuisine.
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
class FoodCategory:
    """A category of eateries: `kind` as in OpenStreetMap, the main cuisine first."""

    kind: str
    cuisines: tuple[str, ...] = ()
    diets: frozenset[str] = field(default_factory=frozenset)

    @property
    def attributes(self) -> dict[str, bool | str]:
        return {"kind": self.kind, **dict.fromkeys(sorted(self.diets), True)}


@lru_cache(maxsize=10_000)
def map_category(*path: str) -> FoodCategory | None:
    """Map a category path, the widest first; None if it is no eatery.

    A German restaurant under European ones has the German cuisine; an unknown one has that of the wider category.
    """
    words = [each.strip().casefold().replace(" ", "_").replace("é", "e") for each in path]
    if not words or words[-1] in EXCLUDED:
        return None
    mapped = [each for each in map(_map_name, reversed(words)) if each]
    if not mapped:
        return None
    cuisines = next((each.cuisines for each in mapped if each.cuisines), ())
    return FoodCategory(mapped[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in mapped)))


def map_categories(paths: Sequence[Sequence[str]]) -> FoodCategory | None:
    """Map several categories: the kind of the first eatery, and the cuisines of all."""
    mapped = [each for each in (map_category(*path) for path in paths) if each]
    if not mapped:
        return None
    cuisines = tuple(dict.fromkeys(cuisine for each in mapped for cuisine in each.cuisines))
    return FoodCategory(mapped[0].kind, cuisines, frozenset[str]().union(*(each.diets for each in mapped)))


def format_label(cuisine: str) -> str:
    """Return the label of a cuisine that has none yet: "Puerto Rican"."""
    return cuisine.replace("-", " ").title()


def _map_name(category: str) -> FoodCategory | None:
    if category in CATEGORIES:
        kind, cuisine = CATEGORIES[category]
        return FoodCategory(kind, (cuisine,) if cuisine else ())
    if not category.endswith(_SUFFIX):
        return None
    name = category.removesuffix(_SUFFIX)
    cuisine = CUISINES[name] if name in CUISINES else name.replace("_", "-")
    diet = DIETS.get(name)
    return FoodCategory(KINDS.get(name, RESTAURANT), (cuisine,) if cuisine else (), frozenset((diet,) if diet else ()))
