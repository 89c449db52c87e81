// What `crypto.subtle` of scripts has computed, by that of the platform. A key is the bytes of a secret, SPKI or PKCS #8.

const { subtle } = crypto;
const AES = ["AES-GCM", "AES-CBC", "AES-CTR", "AES-KW"];

const algorithmOf = ({ name, hash, curve }) => ({
  name,
  ...(hash && { hash }),
  ...(curve && curve !== name && { namedCurve: curve }),
});

/** A key for a usage. */
const keyFor = (asked, bytes, usage, type = asked.type) => {
  const isSecret = type === "secret" || type === undefined;
  const format = isSecret ? "raw" : type === "public" ? "spki" : "pkcs8";
  const algorithm = AES.includes(asked.name) || asked.name === "PBKDF2" || asked.name === "HKDF" ? asked.name : algorithmOf(asked);
  return subtle.importKey(format, bytes, algorithm, false, usage ? [usage] : []);
};

const cipherOf = (asked, parts) => {
  switch (asked.name) {
    case "AES-GCM":
      return { name: asked.name, iv: parts[2], additionalData: parts[3], tagLength: asked.tagLength };
    case "AES-CBC":
      return { name: asked.name, iv: parts[2] };
    case "AES-CTR":
      return { name: asked.name, counter: parts[2], length: asked.counterLength };
    default:
      return { name: asked.name, label: parts[2] };
  }
};

const signatureOf = ({ name, hash, saltLength }) => ({ name, ...(name === "ECDSA" && { hash }), ...(name === "RSA-PSS" && { saltLength }) });

const usageOf = (name, type) => {
  if (name === "ECDH") return type === "public" ? [] : ["deriveBits"];
  if (name === "RSA-OAEP") return [type === "public" ? "encrypt" : "decrypt"];
  return [type === "public" ? "verify" : "sign"];
};

const operations = {
  async import(asked, [bytes]) {
    const { name, type, format } = asked;
    const data = format === "jwk" ? asked.jwk : bytes;
    const key = await subtle.importKey(format, data, algorithmOf(asked), true, usageOf(name, type));
    const { modulusLength, publicExponent } = key.algorithm;
    const value = modulusLength ? { modulusLength, publicExponent: [...publicExponent] } : {};
    return [value, await subtle.exportKey(type === "public" ? "spki" : "pkcs8", key)];
  },
  async export(asked, [bytes]) {
    const { name, type } = asked;
    const key = await subtle.importKey(type === "public" ? "spki" : "pkcs8", bytes, algorithmOf(asked), true, usageOf(name, type));
    const jwk = await subtle.exportKey("jwk", key);
    const kept = {};
    for (const member of ["kty", "crv", "n", "e", "x", "y", "d", "p", "q", "dp", "dq", "qi"]) if (jwk[member] !== undefined) kept[member] = jwk[member];
    return [{ jwk: kept }];
  },
  async generate(asked) {
    const { name, modulusLength } = asked;
    const rsa = modulusLength && { modulusLength, publicExponent: new Uint8Array([1, 0, 1]) };
    const usages = [...usageOf(name, "private"), ...usageOf(name, "public")];
    const { privateKey, publicKey } = await subtle.generateKey({ ...algorithmOf(asked), ...rsa }, true, usages);
    const [first, second] = await Promise.all([subtle.exportKey("pkcs8", privateKey), subtle.exportKey("spki", publicKey)]);
    const both = new Uint8Array(first.byteLength + second.byteLength);
    both.set(new Uint8Array(first));
    both.set(new Uint8Array(second), first.byteLength);
    return [{ private: first.byteLength }, both];
  },
  async sign(asked, [bytes, data]) {
    return [null, await subtle.sign(signatureOf(asked), await keyFor(asked, bytes, "sign"), data)];
  },
  async verify(asked, [bytes, data, signature]) {
    return [{ isSigned: await subtle.verify(signatureOf(asked), await keyFor(asked, bytes, "verify"), signature, data) }];
  },
  async encrypt(asked, parts) {
    return [null, await subtle.encrypt(cipherOf(asked, parts), await keyFor(asked, parts[0], "encrypt"), parts[1])];
  },
  async decrypt(asked, parts) {
    return [null, await subtle.decrypt(cipherOf(asked, parts), await keyFor(asked, parts[0], "decrypt"), parts[1])];
  },
  // The platform wraps keys alone: what is wrapped is one of HMAC, which may have any length.
  async wrap(asked, [bytes, content]) {
    const key = await subtle.importKey("raw", content, { name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
    return [null, await subtle.wrapKey("raw", key, await keyFor(asked, bytes, "wrapKey"), "AES-KW")];
  },
  async unwrap(asked, [bytes, content]) {
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await subtle.unwrapKey("raw", content, await keyFor(asked, bytes, "unwrapKey"), "AES-KW", hmac, true, ["sign"]);
    return [null, await subtle.exportKey("raw", key)];
  },
  async derive(asked, [bytes, salt, info]) {
    const { name, hash, iterations } = asked;
    if (name === "ECDH") {
      const other = await keyFor(asked, salt, undefined, "public");
      return [null, await subtle.deriveBits({ name, public: other }, await keyFor(asked, bytes, "deriveBits", "private"), asked.curve === "P-384" ? 384 : 256)];
    }
    const parameters = name === "PBKDF2" ? { name, hash, salt, iterations } : { name, hash, salt, info };
    return [null, await subtle.deriveBits(parameters, await keyFor(asked, bytes, "deriveBits"), asked.bytes * 8)];
  },
};

/** Computes an operation: `[value as JSON, bytes or null]`, or the name of an error. */
export async function compute(text, tail) {
  const asked = JSON.parse(text);
  let at = 0;
  const parts = asked.lengths.map((length) => tail.subarray(at, (at += length)));
  try {
    const [value, bytes] = await operations[asked.operation](asked, parts);
    return [JSON.stringify(value), bytes ? new Uint8Array(bytes) : null];
  } catch (error) {
    return error?.name === "NotSupportedError" || error?.name === "DataError" ? error.name : "OperationError";
  }
}
