// Buys one answer with the client that is named, as its own documentation does it, and prints what came of it.
//     node buy.mjs CLIENT URL PRIVATE_KEY
import { privateKeyToAccount } from "viem/accounts";

const [name, url, key] = process.argv.slice(2);
const account = privateKeyToAccount(key);

// Each returns the status, the JSON of the answer, and the receipt as the client's own decoder reads it.
const clients = {
  async "@x402/fetch"() {
    const { wrapFetchWithPaymentFromConfig, decodePaymentResponseHeader } = await import("@x402/fetch");
    const { ExactEvmScheme } = await import("@x402/evm");
    const schemes = [{ network: "eip155:84532", client: new ExactEvmScheme(account) }];
    const response = await wrapFetchWithPaymentFromConfig(fetch, { schemes })(url, { method: "GET" });
    const receipt = response.headers.get("PAYMENT-RESPONSE");
    return [response.status, await response.json(), receipt && decodePaymentResponseHeader(receipt)];
  },
  async "x402-fetch"() {
    const { wrapFetchWithPayment, decodeXPaymentResponse } = await import("x402-fetch");
    const response = await wrapFetchWithPayment(fetch, await wallet())(url, { method: "GET" });
    const receipt = response.headers.get("x-payment-response");
    return [response.status, await response.json(), receipt && decodeXPaymentResponse(receipt)];
  },
  async "x402-axios"() {
    const { default: axios } = await import("axios");
    const { withPaymentInterceptor, decodeXPaymentResponse } = await import("x402-axios");
    const response = await withPaymentInterceptor(axios.create(), await wallet()).get(url);
    const receipt = response.headers["x-payment-response"];
    return [response.status, response.data, receipt && decodeXPaymentResponse(receipt)];
  },
};

// The clients of version 1 sign by a wallet client of viem.
async function wallet() {
  const { createWalletClient, http } = await import("viem");
  const { baseSepolia } = await import("viem/chains");
  return createWalletClient({ account, transport: http(), chain: baseSepolia });
}

try {
  const [status, answer, receipt] = await clients[name]();
  console.log(JSON.stringify({ status, answer, receipt }));
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
