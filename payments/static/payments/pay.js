// Orders an export and pays it with the browser wallet (EIP-1193): a message signs the wallet in, and an authorization
// of USDC (EIP-3009) pays the 402 of x402. docs/paying.md describes both.
"use strict";

(() => {
  const box = document.getElementById("pay-by-wallet");
  if (!box) return;
  const status = document.getElementById("pay-status");
  const texts = Object.fromEntries(
    [...document.querySelectorAll("#pay-texts [data-text]")].map((each) => [each.dataset.text, each.textContent]),
  );
  const wallet = window.ethereum;
  if (!wallet) {
    status.textContent = texts["no-wallet"];
    return;
  }
  box.hidden = false;
  const button = box.querySelector("button");
  // `export` is the id of an order that exists already.
  const { address, price, body, exports, export: ordered } = box.dataset;
  const MAX_TRIES = 20, PAUSE_MS = 3000;
  // The payment was not read: sign-in, too early, rate limit.
  const UNSENT = [401, 425, 429];
  // Codes of wallets (EIP-1193, EIP-1474, EIP-3085).
  const REJECTED = 4001, REQUEST_OPEN = -32002;

  // Nothing was charged, or it is not known whether the payment has arrived.
  class Refused extends Error {}
  class Unknown extends Error {}

  const hex = (bytes) => `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const pause = () => new Promise((resolve) => { setTimeout(resolve, PAUSE_MS); });
  const codeOf = (answer) => (answer.error && answer.error.code) || answer.error;
  const reasonOf = (answer) => answer.detail || (answer.error && answer.error.message) || texts["no-reason"];

  const signIn = async () => {
    const { message } = await (await fetch(`/v1/auth/challenge?address=${address}`)).json();
    const signature = await wallet.request({ method: "personal_sign", params: [hex(new TextEncoder().encode(message)), address] });
    const response = await fetch("/v1/auth/session", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message, signature }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Refused(reasonOf(answer));
    return answer.token;
  };

  const useChain = async (chainId) => {
    const wanted = `0x${chainId.toString(16)}`;
    const isOnChain = async () => Number(await wallet.request({ method: "eth_chainId" })) === chainId;
    if (await isOnChain()) return;
    try {
      await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
    } catch (error) {
      if (error.code === REJECTED || error.code === REQUEST_OPEN) throw error;
    }
    if (!(await isOnChain())) throw new Refused(texts["wrong-chain"]);
  };

  const sign = async (terms) => {
    const accepted = terms.accepts.find((each) => each.scheme === "exact" && each.network.startsWith("eip155:"));
    if (accepted.amount !== price) throw new Refused(texts.changed);
    const chainId = Number(accepted.network.split(":")[1]);
    await useChain(chainId);
    const now = Math.floor(Date.now() / 1000);
    const authorization = {
      from: address, to: accepted.payTo, value: accepted.amount, validAfter: "0",
      validBefore: String(now + accepted.maxTimeoutSeconds), nonce: hex(crypto.getRandomValues(new Uint8Array(32))),
    };
    const field = (name, type) => ({ name, type });
    const typed = {
      types: {
        EIP712Domain: [field("name", "string"), field("version", "string"), field("chainId", "uint256"), field("verifyingContract", "address")],
        TransferWithAuthorization: [
          field("from", "address"), field("to", "address"), field("value", "uint256"),
          field("validAfter", "uint256"), field("validBefore", "uint256"), field("nonce", "bytes32"),
        ],
      },
      primaryType: "TransferWithAuthorization",
      domain: { name: accepted.extra.name, version: accepted.extra.version, chainId, verifyingContract: accepted.asset },
      message: authorization,
    };
    const signature = await wallet.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(typed)] });
    return btoa(JSON.stringify({ x402Version: 2, resource: terms.resource, accepted, payload: { signature, authorization } }));
  };

  const order = async (token, payment) => {
    const response = await fetch("/v1/exports", {
      method: "POST", body,
      headers: {
        Authorization: `Bearer ${token}`, "Content-Type": "application/json",
        ...(payment && { "PAYMENT-SIGNATURE": payment }),
      },
    });
    return { status: response.status, terms: response.headers.get("PAYMENT-REQUIRED"), answer: await response.json() };
  };

  // The page may be old: an order that was paid elsewhere would be bought again when it has ended.
  const requireUnpaid = async (token) => {
    if (!ordered) return;
    const response = await fetch(`/v1/exports/${ordered}`, { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
    const answer = await response.json();
    if (!response.ok) throw new Refused(reasonOf(answer));
    if (answer.status !== "awaiting_payment") throw new Refused(texts["not-awaiting"]);
  };

  const isUncharged = (answer) => /nothing was charged/i.test(reasonOf(answer));

  // Sends the same payment until its outcome is known: it is never charged twice. Throws Unknown if it stays unknown:
  // after an answer was lost, only an order or an answer that says that nothing was charged is an outcome.
  const send = async (token, payment) => {
    let isAmbiguous = false, result;
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      result = undefined;
      try {
        result = await order(token, payment);
      } catch {
        // The connection or the answer was lost.
      }
      const isUnsent = result && (UNSENT.includes(result.status) || codeOf(result.answer) === "facilitator_unavailable");
      const isAnswer = result && !isUnsent && result.status !== 408 && result.status < 500;
      if (isAnswer && (!isAmbiguous || result.status === 202 || isUncharged(result.answer))) return result;
      isAmbiguous ||= !isUnsent;
      if (tries < MAX_TRIES) await pause();
    }
    if (isAmbiguous) throw new Unknown();
    throw new Refused(reasonOf(result.answer));
  };

  const pay = async () => {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    if (!accounts.some((each) => each.toLowerCase() === address)) throw new Refused(texts["other-address"]);
    status.textContent = texts["sign-in"];
    const token = await signIn();
    await requireUnpaid(token);
    let result = await order(token);
    if (result.status === 402) {
      status.textContent = texts.confirm;
      const payment = await sign(JSON.parse(atob(result.terms)));
      // Wallets may take minutes.
      await requireUnpaid(token);
      status.textContent = texts.paying;
      result = await send(token, payment);
    }
    const { answer } = result;
    if (result.status !== 202) throw new Refused(/insufficient/.test(answer.reason) ? texts["too-little"] : reasonOf(answer));
    location.assign(`${exports}/${answer.id}`);
  };

  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = texts.connect;
    try {
      await pay();
    } catch (error) {
      if (error instanceof Unknown) {
        // The button stays disabled: a second payment could be charged too.
        status.textContent = texts.unknown;
        document.getElementById("pay-unknown").hidden = false;
        return;
      }
      button.disabled = false;
      status.textContent = { [REJECTED]: texts.rejected, [REQUEST_OPEN]: texts.waiting }[error.code] || error.message;
    }
  });
})();
