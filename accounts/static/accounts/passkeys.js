// Shows an error message for a failed passkey; the browser's own error is for developers.
"use strict";

const REASONS = {
  NotAllowedError: "No passkey was selected, or it took too long. Try again.",
  InvalidStateError: "This device is already one of your passkeys.",
  SecurityError: "Passkeys do not work on this page. They need https.",
};

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const place = document.getElementById("passkey-problem");
  if (!place) return;
  place.textContent = REASONS[event.detail.exception.name] || "That did not work. Sign in with your password.";
  place.hidden = false;
});
