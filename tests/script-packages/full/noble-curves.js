// limits: { script: { loops: 2000000 } }
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/curves/utils.js";

const utf8ToBytes = text => new TextEncoder().encode(text);

export default function () {
  const secret = hexToBytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const key = ed25519.getPublicKey(secret);
  return [bytesToHex(key), bytesToHex(secp256k1.getPublicKey(secret)), utf8ToBytes("é").length];
}
