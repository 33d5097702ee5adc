"""The files of one kind of photos: the original of each, and its thumbnails."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from framework.images import thumbnails
from framework.images.storage import delete_files, store_file
from framework.images.thumbnails import SIZES, Thumbnail
from framework.public_ids import encode


@dataclass(frozen=True, slots=True)
class PhotoFiles:
    """Photos whose public ids have this prefix, below /photos, stored in this folder."""

    prefix: str
    folder: str

    def thumbnail_path(self, photo: UUID, size: str) -> str:
        """The path of the URL of a thumbnail."""
        return f"/photos/{encode(self.prefix, photo)}/{size}.webp"

    def load(self, photo: UUID, size: str) -> Thumbnail | None:
        """Return a thumbnail; the first request makes and stores it. None if the original is missing."""
        try:
            make = partial(thumbnails.scale_original, self._original(photo), size)
            return thumbnails.load_or_make(self._thumbnail(photo, size), make)
        except FileNotFoundError:
            return None

    def store(self, photo: UUID, content: bytes) -> None:
        """Write the original, in the form of uploads.encode_original. Its row is committed before."""
        store_file(self._original(photo), content)

    def delete(self, photo: UUID) -> None:
        """Delete all files of the photo; missing ones are ignored."""
        delete_files([self._original(photo), *(self._thumbnail(photo, size) for size in SIZES)])

    def _original(self, photo: UUID) -> str:
        return self._name(photo, "original.jpg")

    def _thumbnail(self, photo: UUID, size: str) -> str:
        return self._name(photo, f"{size}-{thumbnails.VERSION}.webp")

    def _name(self, photo: UUID, kind: str) -> str:
        name = encode(self.prefix, photo)
        # The last characters of an id are random, so the folders fill evenly.
        return f"{self.folder}/{name[-2:]}/{name}-{kind}"
