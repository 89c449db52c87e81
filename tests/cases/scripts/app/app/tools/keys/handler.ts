const bytes = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const hex = (buffer: ArrayBuffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (value: string) => new TextEncoder().encode(value);
const short = (buffer: ArrayBuffer) => hex(buffer).slice(0, 16);

// Made for this test.
const RSA = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDAVj4h7ozAhRo5HoOAv3aNQIGjzVVrXu0BA/Y7CvchA2HI3BVOQ+QnUvHxHCvYQKl0jXGQnBfHzD/K09E81zZGi0rDFeSd3kCGTqjJXi7DUj+HX6KBMTU33KHTAYvjuuQDSpfZ3Dy0oh0tHz8eBy2FAAD0Al+txA5amtIiqTZLASyNwHN4M2CqjN+J7PpFpM7n59j9/nx/l3s8hb7XmivkECreauqbV0f4uP+LvlKs1MVCGj7VaqjIp7FZBlm/aSDUzxM211SLCF9HktTt4PMUM64L5NZlVK1ekiz9r3LMQPd1LYJ5iAa7L038YD2ubi0CKk6AdYkmfAe/8n+IuAIJAgMBAAECggEAAc3H7QGZCp29178E0hmLXjq2geCFQRfz2D6tPU/oQ9Jb03GCEqVA21VySLewObDmOYHN+n74RcrKLgm2Plki6sJJuj0MdtEfUr3OZGIwmpW9BrwGPUb/gaLrcpwGWnrFtGTA1qoI+LcM19VaYcVL9ncAEmY493C0saVXkZFfT2Xrzy0IZ2aR+yaxL4bO1DMAoAQPZbdOp18DMA6bisUpfj/fYfay2g3nRMP/q9P6OrFyus+em9QLJSKWYJC1LhOp+lDbB7lowJETPMF8HTbe1njE9GEnB6D368E4SrCv4/e0n90s5RQIXFxcVsDtXiqdz973LNyn3ssnnFQ0ozhSHQKBgQD7bOlJd+Wfc40u4fHXaZKJw3KIKqcsRe3DTMAeJ5tTd98LaGEW5qBkJEmJF67LQJFp/XinIbllIkvNTMDcoioTv9xT8Z/2q+dxEHvvqliaDyXN+q4dT2XZfYPNFl0U4Y1Hh7xFfGSOdq+drbZNTcjXBpwYjWV3B3orHsgeVSYmLQKBgQDD1hvjiRQVWWF/cM7xVsGHoAloYcIhsvhbA/oK+GHdJScbP6Ck0yPnIE0sdQRRPa30vBSXyA+XLVwsx7WffwcltdWwz1MNCI/QYNUebVcEOP3e2SktlwD7leNIHopjSkLkTBKAvR6c4iVovI537xXe2yBH0LmqP1hrRB5Zhu8wzQKBgEROkY65OTQ5w3iiP/8DGqG87MfbtrFLik4N8v/+SK/DmGBUClSbcaXjSesp+P4VW6xNBdN6UREN4UQ0fw0yLXZSILzZn1j32RgZn2I8iHfKd73fRiCGaqhM9lrooX9DzAtL8DV8lyExU4LmJ+oWoOLyU8RD3fYZnPJMGZhMD+I9AoGBAJG+2Qaf0AiLepoj1H+cN2++VQIQLzBxR5BFB2P+sqaordADrIS+dmveiFDbzZjAtKP9Db5gL+os4fqZrrvDCAiyqRRrV73Nb2p/hlyctzP3Tkj5iUHareqPBJV51ThL3jiVvPd+yDetvnWSTt1HXBl9LysDVgo0FpPOIGA0ofLJAoGASPY2L+Ip8CZaoc42NL5DqC5MQ6FagmSyQ6LH4Y4N4xqxm0sHbpy2lmK+qTlhMhFz/c2jGGXtX6zkxFrmuXomA39PixDtM+FKYsNOkCrInNnx/kc+Fhytlf/eppTKpkz4h1iC/w3tjfrqKG8u0u6DLfnSzFGJp/Ofl98w0MLkBug=";
const P256 = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgU72e/bU6o0pPCnBbarCj80b0LfGBK6Cbb3gtAvK+6DyhRANCAASip44vxDlfuavoqO/myQU4znaYECwzr9//rGKJaFl5Iyc5VFsN66DZQSVt/xmjFRiulR7oLNMGZgEKYglX2kR5";
const ED25519 = "MC4CAQAwBQYDK2VwBCIEIGs4IIv+cPehXN4BidT2hNWmDtCewBNETsaW2gWsrCAu";

export default async () => {
  const { subtle } = crypto;
  const failed = async (work: () => Promise<unknown>) => { try { return await work(); } catch (error: any) { return `${error.name}: ${error.message}`; } };
  const hmac = await subtle.importKey("raw", text("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const rsaKey = await subtle.importKey("pkcs8", bytes(RSA), rsa, true, ["sign"]);
  const rsaJwk = await subtle.exportKey("jwk", rsaKey);
  const rsaPublic = await subtle.importKey("jwk", { kty: "RSA", n: rsaJwk.n, e: rsaJwk.e }, rsa, true, ["verify"]);
  const rsaSignature = await subtle.sign(rsa, rsaKey, text("m"));
  const oaep = { name: "RSA-OAEP", hash: "SHA-256" };
  const open = await subtle.importKey("spki", await subtle.exportKey("spki", rsaPublic), oaep, false, ["encrypt"]);
  const close = await subtle.importKey("pkcs8", bytes(RSA), oaep, false, ["decrypt"]);
  const ec = { name: "ECDSA", namedCurve: "P-256" };
  const ecKey = await subtle.importKey("pkcs8", bytes(P256), ec, true, ["sign"]);
  const { d, key_ops, ...ecJwk } = await subtle.exportKey("jwk", ecKey);
  const ecPublic = await subtle.importKey("jwk", ecJwk, ec, true, ["verify"]);
  const ecSignature = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ecKey, text("m"));
  const edKey = await subtle.importKey("pkcs8", bytes(ED25519), "Ed25519", true, ["sign"]);
  const aes = await subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt", "decrypt"]);
  const gcm = { name: "AES-GCM", iv: new Uint8Array(12) };
  const sealed = await subtle.encrypt(gcm, aes, text("secret"));
  const wrapping = await subtle.importKey("raw", new Uint8Array(16).fill(1), "AES-KW", false, ["wrapKey"]);
  const password = await subtle.importKey("raw", text("pw"), "PBKDF2", false, ["deriveBits"]);
  const ikm = await subtle.importKey("raw", text("ikm"), "HKDF", false, ["deriveBits"]);
  const pair = (await subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, false, ["sign", "verify"])) as CryptoKeyPair;
  const made = await subtle.sign({ name: "ECDSA", hash: "SHA-512" }, pair.privateKey, text("m"));
  return {
    digests: await Promise.all(["SHA-1", "SHA-256", "SHA-384", "SHA-512"].map(async (name) => short(await subtle.digest(name, text("abc"))))),
    hmac: [hex(await subtle.sign("HMAC", hmac, text("m"))), await subtle.verify("HMAC", hmac, new Uint8Array(32), text("m"))],
    rsa: [short(rsaSignature), await subtle.verify(rsa, rsaPublic, rsaSignature, text("m")), rsaJwk.alg, (rsaKey.algorithm as RsaKeyAlgorithm).modulusLength],
    oaep: new TextDecoder().decode(await subtle.decrypt("RSA-OAEP", close, await subtle.encrypt("RSA-OAEP", open, text("hidden")))),
    ec: [ecJwk, ecSignature.byteLength, await subtle.verify({ name: "ECDSA", hash: "SHA-256" }, ecPublic, ecSignature, text("m"))],
    ed25519: [hex(await subtle.sign("Ed25519", edKey, text("m"))), (await subtle.exportKey("jwk", edKey)).x],
    aes: [hex(sealed), new TextDecoder().decode(await subtle.decrypt(gcm, aes, sealed)), hex(await subtle.wrapKey("raw", aes, wrapping, "AES-KW"))],
    derived: [
      hex(await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: text("salt"), iterations: 1000 }, password, 128)),
      hex(await subtle.deriveBits({ name: "HKDF", hash: "SHA-512", salt: text("salt"), info: text("info") }, ikm, 128)),
    ],
    generated: await subtle.verify({ name: "ECDSA", hash: "SHA-512" }, pair.publicKey, made, text("m")),
    errors: [
      await failed(() => subtle.exportKey("raw", hmac)),
      await failed(() => subtle.decrypt(gcm, aes, new Uint8Array(20))),
      await failed(() => subtle.importKey("pkcs8", new Uint8Array(50), rsa, true, ["sign"])),
      await failed(() => subtle.importKey("raw", text("k"), "DES" as any, true, ["sign"])),
      await failed(() => subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: text("s"), iterations: 200_000 }, password, 128)),
      await failed(() => subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(5) }, aes, text("m"))),
    ],
  };
};
