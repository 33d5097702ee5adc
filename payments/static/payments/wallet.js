// Has the wallet of this browser (EIP-1193) tell its address and sign; without one the forms are filled in by hand.
"use strict";

(() => {
  const wallet = window.ethereum;
  const box = document.getElementById("browser-wallet");
  if (!wallet || !box) return;
  box.hidden = false;
  const says = document.getElementById("wallet-says");
  const tell = (words) => { says.textContent = words; };
  const why = (error) => (error && error.code === 4001
    ? "The wallet was told not to. Nothing has changed."
    : `The wallet said: ${(error && error.message) || "nothing"}`);
  const asked = async (button, words, work) => {
    button.disabled = true;
    tell(words);
    try {
      await work();
    } catch (error) {
      button.disabled = false;
      tell(why(error));
    }
  };
  const hex = (text) => `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

  const ask = document.getElementById("ask-wallet");
  if (ask) {
    ask.addEventListener("click", () => asked(ask, "Look at your wallet: it asks whether this page may see its address.", async () => {
      const [address] = await wallet.request({ method: "eth_requestAccounts" });
      if (!address) throw new Error("it has no address to show");
      const form = document.getElementById("address-form");
      form.elements.address.value = address;
      form.elements.by_browser.value = "true";
      form.submit();
    }));
  }

  const sign = document.getElementById("sign-wallet");
  if (sign) {
    const form = document.getElementById("signature-form");
    const text = document.getElementById("letter").textContent;
    sign.addEventListener("click", () => asked(sign, "Look at your wallet: it shows the message to sign.", async () => {
      form.elements.signature.value = await wallet.request({ method: "personal_sign", params: [hex(text), form.dataset.address] });
      form.submit();
    }));
    if ("now" in form.dataset) sign.click();
  }
})();
