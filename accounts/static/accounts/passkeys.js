// Says in words why a passkey did not work; the browser's own error is for developers.
"use strict";

const REASONS = {
  NotAllowedError: "Nothing was chosen, or it took too long. Try again.",
  InvalidStateError: "This device is one of your passkeys already.",
  SecurityError: "Passkeys do not work at this address. They need https.",
};

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const place = document.getElementById("passkey-problem");
  if (!place) return;
  place.textContent = REASONS[event.detail.exception.name] || "That did not work. Sign in by your password.";
  place.hidden = false;
});
