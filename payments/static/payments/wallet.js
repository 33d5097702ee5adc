// Gets the address and the signature from the browser wallet (EIP-1193); without one, users fill in the forms.
"use strict";

(() => {
  const wallet = window.ethereum;
  const box = document.getElementById("browser-wallet");
  if (!wallet || !box) return;
  box.hidden = false;
  const status = document.getElementById("wallet-status");
  const showStatus = (text) => { status.textContent = text; };
  const reasonOf = (error) => (error && error.code === 4001
    ? "The request was rejected in the wallet. Nothing has changed."
    : `Wallet error: ${(error && error.message) || "unknown"}`);
  const request = async (button, text, work) => {
    button.disabled = true;
    showStatus(text);
    try {
      await work();
    } catch (error) {
      button.disabled = false;
      showStatus(reasonOf(error));
    }
  };
  const hex = (text) => `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

  const ask = document.getElementById("ask-wallet");
  if (ask) {
    ask.addEventListener("click", () => request(ask, "Check your wallet: allow this page to see its address.", async () => {
      const [address] = await wallet.request({ method: "eth_requestAccounts" });
      if (!address) throw new Error("it has no address");
      const form = document.getElementById("address-form");
      form.elements.address.value = address;
      form.elements.by_browser.value = "true";
      form.submit();
    }));
  }

  const sign = document.getElementById("sign-wallet");
  if (sign) {
    const form = document.getElementById("signature-form");
    const text = document.getElementById("message").textContent;
    sign.addEventListener("click", () => request(sign, "Check your wallet: confirm the message to sign.", async () => {
      form.elements.signature.value = await wallet.request({ method: "personal_sign", params: [hex(text), form.dataset.address] });
      form.submit();
    }));
    if ("now" in form.dataset) sign.click();
  }
})();
