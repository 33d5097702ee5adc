/** Payment by x402: the wallet signs the price that a 402 names. Needs `npm install @x402/fetch @x402/evm viem`. */
import { ExactEvmScheme } from "@x402/evm";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Payer } from "./clients.js";
import { PaymentNotMade } from "./errors.js";

/**
 * Pays for single answers from a wallet, up to a limit for each.
 *
 * The private key signs authorizations (EIP-3009) and is not sent. The wallet needs USDC on the server's network, and
 * no gas. `maxPriceUsdc` is a decimal, such as "0.01".
 */
export function payer(privateKey: Hex, { maxPriceUsdc }: { maxPriceUsdc: string }): Payer {
  const client = new ExactEvmScheme(privateKeyToAccount(privateKey));
  return (fetch) => async (input, init) => {
    let failure: unknown;
    const remembering: typeof globalThis.fetch = async (...request) => {
      try {
        return await fetch(...request);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const paying = wrapFetchWithPaymentFromConfig(remembering, {
      schemes: [{ network: "eip155:*", client }],
      // The known dollar coins only, up to the limit.
      spendControls: { maxAmountPerPayment: `$${maxPriceUsdc}` },
    });
    try {
      return await paying(input, init);
    } catch (error) {
      // What the connection has not thrown comes from the payment.
      if (error === failure) throw error;
      throw new PaymentNotMade(`This payer pays up to ${maxPriceUsdc} USDC a call. ${String(error)}`, { cause: error });
    }
  };
}
