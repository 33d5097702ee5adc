"""Photos in the back office."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from PIL import Image

from catalogue.models import Photo
from catalogue.photos import listing, thumbnails, uploads
from framework.admin.large_tables import LongTableAdmin


class PhotoForm(forms.ModelForm[Photo]):
    """The texts of a photo; for a new photo also its file."""

    upload = forms.FileField(
        label="File",
        help_text="JPEG, PNG or WebP, at most 15 MB and 50 megapixels. Location and camera metadata are removed.",
        widget=forms.ClearableFileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.picture: Image.Image | None = None
        if "alt" in self.fields:
            self.fields["alt"].required = True

    def clean_upload(self) -> Any:
        """Read the image. Rejects invalid and too large files."""
        upload = self.cleaned_data["upload"]
        try:
            self.picture = uploads.read(upload.file, length=upload.size)
        except uploads.BadPicture as refusal:
            raise forms.ValidationError(refusal.message) from refusal
        return upload


@admin.register(Photo)
class PhotoAdmin(LongTableAdmin):
    """Photos. The image of a URL never changes: a different image is a new photo."""

    class Media:
        css: ClassVar[dict[str, list[str]]] = {"all": ["catalogue/admin.css"]}

    form = PhotoForm
    list_display = ["preview", "restaurant", "kind", "alt", "is_hidden", "created_at"]
    list_display_links = ["preview", "alt"]
    list_select_related = ["restaurant"]
    list_filter = ["kind", "is_hidden"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "Complete slug of the restaurant"
    autocomplete_fields = ["restaurant", "source"]
    actions = ["hide", "show_again"]

    def get_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[Any]:
        """A new photo has a file field, an existing one a preview."""
        words = ["kind", "alt", "caption", ("author", "license", "source")]
        if obj is None:
            return ["restaurant", "upload", *words]
        return ["large", "restaurant", *words, ("width", "height", "created_at"), "is_hidden", "review"]

    def get_readonly_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[str]:
        """Image and restaurant are fixed; hiding is a list action, because it updates review counts."""
        if obj is None:
            return []
        return ["large", "restaurant", "source", "width", "height", "created_at", "is_hidden", "review"]

    @admin.display(description="Preview")
    def preview(self, photo: Photo) -> SafeString:
        """The small image; hidden photos are not served."""
        return picture(photo, "small", 120)

    @admin.display(description="Photo")
    def large(self, photo: Photo) -> SafeString:
        """The large image."""
        return picture(photo, "large", 600)

    def save_model(self, request: HttpRequest, obj: Photo, form: Any, change: bool) -> None:
        """Store the image of a new photo; of an existing one save only the changed texts."""
        if not change:
            uploads.add(obj, form.picture, now=timezone.now())
        elif form.changed_data:
            obj.save(update_fields=form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Photo) -> None:
        """Delete the photo with its files."""
        uploads.delete(Photo.objects.filter(pk=obj.pk), now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Delete the photos with their files."""
        uploads.delete(queryset, now=timezone.now())

    @admin.action(description="Hide the selected photos", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Serve 404 instead; cached copies are not affected."""
        hidden = uploads.hide(queryset, hidden=True, now=timezone.now())
        self.message_user(request, f"{hidden} photos hidden.", messages.SUCCESS)

    @admin.action(description="Show the selected photos again", permissions=["change"])
    def show_again(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Serve them again."""
        shown = uploads.hide(queryset, hidden=False, now=timezone.now())
        self.message_user(request, f"{shown} photos are shown again.", messages.SUCCESS)


def picture(photo: Photo, size: str, width: int) -> SafeString:
    """Return an img element for the back office."""
    if photo.is_hidden:
        return format_html("<em>{}</em>", "hidden")
    wide, high = thumbnails.measures(size, width=photo.width, height=photo.height)
    return format_html(
        '<img src="{}" width="{}" height="{}" alt="{}" loading="lazy" class="photo">',
        listing.path(photo.pk, size),
        width,
        round(high * width / wide),
        photo.alt,
    )
