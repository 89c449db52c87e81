import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { blake3 } from "@noble/hashes/blake3.js";
import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

export default function () {
  const text = utf8ToBytes("Grüße 👋");
  return [
    ...[sha256, sha512, sha3_256, blake3].map(hash => bytesToHex(hash(text))),
    bytesToHex(hmac(sha256, utf8ToBytes("key"), text)),
    bytesToHex(pbkdf2(sha256, "password", "salt", { c: 32, dkLen: 32 })),
    bytesToHex(sha256.create().update(text.subarray(0, 3)).update(text.subarray(3)).digest()),
  ];
}
