"""Pictures out of numbers: what generated restaurants show, always the same for the same number."""

from collections.abc import Mapping
from random import Random

from PIL import Image

from catalogue.painting.bites import DISHES
from catalogue.painting.canvas import Canvas, Scene
from catalogue.painting.drinks import DRINKS
from catalogue.painting.rooms import EXTERIORS, INTERIORS, MENUS, OTHERS

# By Photo.Kind, whose module the processes that only paint or write words cannot load.
SCENES: Mapping[str, Mapping[str, Scene]] = {
    "food": DISHES,
    "drink": DRINKS,
    "interior": INTERIORS,
    "exterior": EXTERIORS,
    "menu": MENUS,
    "other": OTHERS,
}
NAMES = {kind: tuple(scenes) for kind, scenes in SCENES.items()}
# The lowest bits of a number say which scene, the others how it looks.
MOST_SCENES = 64
GROUND = (236, 230, 220)


def art_of(scene: str, *, kind: str, variation: int) -> int:
    """The number that paints this scene of the kind; of each there are as many as there are variations."""
    return variation * MOST_SCENES + NAMES[kind].index(scene)


def scene_of(art: int, *, kind: str) -> str:
    """The scene that the number paints, any number at all."""
    names = NAMES[kind]
    return names[art % MOST_SCENES % len(names)]


def paint(art: int, *, kind: str, width: int, height: int) -> Image.Image:
    """A picture of this kind and size in pixels. About 40 ms of a core at 1200 by 900."""
    chance = Random(f"{kind} {art}")  # noqa: S311  # a picture, no secret
    canvas = Canvas(width, height, GROUND, chance)
    SCENES[kind][scene_of(art, kind=kind)](canvas)
    return canvas.finished(light=(chance.uniform(0.1, 0.5), chance.uniform(0.0, 0.3)))
