"""Admin forms that a rule refuses only when they are stored: shown again as they were filled in, with the reason."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse

from framework.errors import ApiError


class DomainErrorForm(ModelForm[Any]):
    """Knows why it could not be stored when it was first tried, and is not tried again as it is."""

    refused: ClassVar[ApiError | None] = None

    def clean(self) -> dict[str, Any]:
        """Say why it could not be stored."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if self.refused:
            self.blame(self.refused)
        return values

    def blame(self, refusal: ApiError) -> None:
        """Say it at the field that it is about."""
        self.add_error(refusal.param if refusal.param in self.fields else NON_FIELD_ERRORS, refusal.message)


class DomainErrorAdmin(admin.ModelAdmin[Any]):
    """Shows a form once more where storing it was refused; only storing tells what somebody else did meanwhile."""

    form = DomainErrorForm

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The form, which knows why it was refused before."""
        form: Any = super().get_form(request, obj, change, **options)
        form.refused = getattr(request, "refused", None)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Store what staff wrote, all of it or nothing; where a rule refuses it, show the page again."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApiError as refusal:
            request.refused = refusal  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, extra_context)
