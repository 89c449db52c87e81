import { sha224, sha256 } from "js-sha256";

export default function () {
  const hash = sha256.create();
  hash.update("Gr").update("üße 👋");
  return [sha256(""), sha256("Grüße 👋"), hash.hex(), sha224("abc"), sha256.hmac("key", "The quick brown fox"), sha256.array(new Uint8Array([1, 2, 3]).buffer).length, sha256([0, 255])];
}
