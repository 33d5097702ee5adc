// Buys one answer with @x402/fetch and checks its offer and its receipt with @x402/extensions, as its README does it.
//     node receipts.mjs URL PRIVATE_KEY
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm";
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureEIP712,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureEIP712,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { privateKeyToAccount } from "viem/accounts";

const [url, key] = process.argv.slice(2);
const account = privateKeyToAccount(key);
const schemes = [{ network: "eip155:84532", client: new ExactEvmScheme(account) }];

// The JWS functions read the key from the DID document that `kid` names.
const checked = async (signed, byTypedData, byJws) =>
  signed.format === "jws" ? { payload: await byJws(signed) } : await byTypedData(signed);

try {
  const required = decodePaymentRequiredHeader((await fetch(url)).headers.get("PAYMENT-REQUIRED"));
  const [offer] = extractOffersFromPaymentRequired(required);
  const [decoded] = decodeSignedOffers([offer]);
  const response = await wrapFetchWithPaymentFromConfig(fetch, { schemes })(url, { method: "GET" });
  const receipt = extractReceiptFromResponse(response);
  console.log(
    JSON.stringify({
      status: response.status,
      format: [offer.format, receipt.format],
      isOfferAccepted: findAcceptsObjectFromSignedOffer(offer, required.accepts) === required.accepts[0],
      offer: await checked(offer, verifyOfferSignatureEIP712, verifyOfferSignatureJWS),
      receipt: await checked(receipt, verifyReceiptSignatureEIP712, verifyReceiptSignatureJWS),
      isMatch: verifyReceiptMatchesOffer(receipt, decoded, [account.address]),
    }),
  );
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
