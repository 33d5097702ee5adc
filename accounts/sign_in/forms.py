"""The form that adds a passkey."""

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """The name of the passkey, and whether it replaces the password."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        name, passwordless = self.fields["name"], self.fields["passwordless"]
        name.label, name.help_text, name.max_length = "Name", "To recognise it, for example: my phone.", 100
        passwordless.label, passwordless.initial = "Passwordless sign-in", True
        passwordless.help_text = "Sign in without the password. Clear this for a security key without a PIN."
