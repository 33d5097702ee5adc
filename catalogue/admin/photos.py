"""Photos in the back office."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from PIL import Image

from catalogue.admin.queues.base import StateFilter
from catalogue.admin.restaurant_rows import RestaurantRowsAdmin, restaurant_link
from catalogue.models import Photo, PhotoImport
from catalogue.photos import downloads, uploads
from catalogue.photos.listing import thumbnail_path
from catalogue.tasks import enqueue_photo_downloads
from framework.admin.action_confirmation import confirmed_action
from framework.admin.badges import badge, badge_column
from framework.images.thumbnails import thumbnail_dimensions
from framework.images.uploads import ACCEPT, HELP_TEXT, InvalidImage, read_image


class PhotoForm(forms.ModelForm[Photo]):
    """The texts of a photo; for a new photo also its file."""

    upload = forms.FileField(
        label="File",
        help_text=HELP_TEXT,
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPT}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.image: Image.Image | None = None
        if "alt" in self.fields:
            self.fields["alt"].required = True

    def clean_upload(self) -> Any:
        upload = self.cleaned_data["upload"]
        try:
            self.image = read_image(upload.file, length=upload.size)
        except InvalidImage as error:
            raise forms.ValidationError(error.message) from error
        return upload


@admin.register(Photo)
class PhotoAdmin(RestaurantRowsAdmin):
    """Photos. The image of a URL never changes: a different image is a new photo."""

    class Media:
        css: ClassVar[dict[str, list[str]]] = {"all": ["catalogue/admin.css"]}

    form = PhotoForm
    list_display = ["preview", "alt", "place", "kind", "state", "created_at"]
    list_display_links = ["preview", "alt"]
    list_filter = ["kind", "is_hidden"]
    autocomplete_fields = ["restaurant", "source"]
    actions = ["hide", "show_again"]

    def get_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[Any]:
        texts = ["kind", "alt", "caption", ("author", "license", "source")]
        if obj is None:
            return ["restaurant", "upload", *texts]
        return ["large", "restaurant", *texts, ("width", "height", "created_at"), "is_hidden", "review"]

    def get_readonly_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[str]:
        if obj is None:
            return []
        return ["large", "restaurant", "source", "width", "height", "created_at", "is_hidden", "review"]

    @admin.display(description="Preview")
    def preview(self, photo: Photo) -> SafeString:
        return render_thumbnail(photo, "small", 120)

    @admin.display(description="Restaurant")
    def place(self, photo: Photo) -> SafeString:
        return restaurant_link(photo.restaurant)

    @admin.display(description="State")
    def state(self, photo: Photo) -> SafeString:
        return badge("Hidden", "soft") if photo.is_hidden else badge("Served", "good")

    @admin.display(description="Photo")
    def large(self, photo: Photo) -> SafeString:
        return render_thumbnail(photo, "large", 600)

    def save_model(self, request: HttpRequest, obj: Photo, form: Any, change: bool) -> None:
        """Store the image of a new photo; of an existing one save only the changed texts."""
        if not change:
            uploads.add_photo(obj, form.image, now=timezone.now())
        elif form.changed_data:
            obj.save(update_fields=form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Photo) -> None:
        uploads.delete_photos(Photo.objects.filter(pk=obj.pk), now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        uploads.delete_photos(queryset, now=timezone.now())

    @confirmed_action(
        "Hide the selected photos",
        message="The addresses of these photos answer 404. Cached copies are not affected.",
        confirm_label="Hide photos",
        applies_to=lambda photos: photos.filter(is_hidden=False),
    )
    def hide(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Serve 404 instead; cached copies are not affected."""
        count = uploads.set_hidden(queryset, hidden=True, now=timezone.now())
        self.message_user(request, f"{count} photos hidden.", messages.SUCCESS)

    @confirmed_action(
        "Show the selected photos again",
        message="These photos are served again.",
        confirm_label="Show photos",
        applies_to=lambda photos: photos.filter(is_hidden=True),
    )
    def show_again(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        count = uploads.set_hidden(queryset, hidden=False, now=timezone.now())
        self.message_user(request, f"{count} photos are shown again.", messages.SUCCESS)


@admin.register(PhotoImport)
class PhotoImportAdmin(RestaurantRowsAdmin):
    """Photos that imports have listed: whether they are stored, and why not."""

    list_display = ["url", "state_badge", "restaurant", "source", "tries", "error"]
    state_badge = badge_column("state", "State")
    list_filter = [StateFilter]
    list_select_related = ["restaurant", "source"]
    ordering = ["-pk"]
    actions = ["download_again"]
    fields = ["restaurant", "source", "record", "url", "state", "error", "tries", "next_try_at", "photo"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: PhotoImport | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: PhotoImport | None = None) -> bool:
        return False

    @confirmed_action(
        "Download the selected failed photos again",
        message="These failed photos are downloaded from their source again.",
        confirm_label="Download photos",
        applies_to=lambda photos: photos.filter(state=PhotoImport.State.FAILED),
    )
    def download_again(self, request: HttpRequest, queryset: QuerySet[PhotoImport]) -> None:
        count = downloads.retry(queryset, now=timezone.now())
        transaction.on_commit(enqueue_photo_downloads)
        self.message_user(request, f"{count} photos are being downloaded again.", messages.SUCCESS)


def render_thumbnail(photo: Photo, size: str, width: int) -> SafeString:
    """Return an <img> `width` pixels wide. A hidden photo has no image, because its URL answers 404."""
    if photo.is_hidden:
        return format_html("<em>{}</em>", "hidden")
    thumbnail_width, thumbnail_height = thumbnail_dimensions(size, width=photo.width, height=photo.height)
    return format_html(
        '<img src="{}" width="{}" height="{}" alt="{}" loading="lazy" class="photo">',
        thumbnail_path(photo.pk, size),
        width,
        round(thumbnail_height * width / thumbnail_width),
        photo.alt,
    )
