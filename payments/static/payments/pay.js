// Orders an export and pays it with the browser wallet (EIP-1193): a message signs the wallet in, and an authorization
// of USDC (EIP-3009) pays the 402 of x402. docs/paying.md describes both.
"use strict";

(() => {
  const wallet = window.ethereum;
  const box = document.getElementById("pay-by-wallet");
  if (!wallet || !box) return;
  box.hidden = false;
  const button = box.querySelector("button");
  const status = document.getElementById("pay-status");
  const body = document.getElementById("body").textContent;
  const { address, price, exports } = box.dataset;
  const MAX_TRIES = 20, PAUSE_MS = 3000;

  const hex = (bytes) => `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const pause = () => new Promise((resolve) => { setTimeout(resolve, PAUSE_MS); });
  const reasonOf = (answer) => answer.detail || (answer.error && answer.error.message) || "The server gave no reason.";

  const signIn = async () => {
    const { message } = await (await fetch(`/v1/auth/challenge?address=${address}`)).json();
    const signature = await wallet.request({ method: "personal_sign", params: [hex(new TextEncoder().encode(message)), address] });
    const response = await fetch("/v1/auth/session", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message, signature }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(reasonOf(answer));
    return answer.token;
  };

  const useChain = async (chainId) => {
    const wanted = `0x${chainId.toString(16)}`;
    if ((await wallet.request({ method: "eth_chainId" })) === wanted) return;
    await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
  };

  const sign = async (terms) => {
    const accepted = terms.accepts.find((each) => each.scheme === "exact" && each.network.startsWith("eip155:"));
    if (accepted.amount !== price) throw new Error("The price has changed. Show the price again.");
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

  const order = (token, payment) => fetch("/v1/exports", {
    method: "POST", body,
    headers: {
      Authorization: `Bearer ${token}`, "Content-Type": "application/json",
      ...(payment && { "PAYMENT-SIGNATURE": payment }),
    },
  });

  const pay = async () => {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    if (!accounts.some((each) => each.toLowerCase() === address)) throw new Error("Select the wallet that you chose above in your browser wallet.");
    status.textContent = "Check your wallet: sign in.";
    const token = await signIn();
    let response = await order(token);
    if (response.status === 402) {
      status.textContent = "Check your wallet: confirm the payment.";
      const payment = await sign(JSON.parse(atob(response.headers.get("PAYMENT-REQUIRED"))));
      status.textContent = "Paying. Keep this page open.";
      response = await order(token, payment);
      // 503: it is not known yet whether the money has moved. The same payment is never charged twice.
      for (let tries = 1; response.status === 503 && tries < MAX_TRIES; tries += 1) {
        await pause();
        response = await order(token, payment);
      }
    }
    const answer = await response.json();
    if (!response.ok) throw new Error(reasonOf(answer));
    location.assign(`${exports}/${answer.id}`);
  };

  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "Check your wallet: allow this page to see its address.";
    try {
      await pay();
    } catch (error) {
      button.disabled = false;
      status.textContent = error.code === 4001 ? "The request was rejected in the wallet." : `Not ordered. ${error.message}`;
    }
  });
})();
