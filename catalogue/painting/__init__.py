"""Paints the photos of generated restaurants. No Django, so that processes of their own can load it."""

from catalogue.painting.scenes import NAMES, SCENES, art_of, paint, scene_of

__all__ = ["NAMES", "SCENES", "art_of", "paint", "scene_of"]
