import { base64url, createLocalJWKSet, decodeProtectedHeader, EncryptJWT, exportJWK, generateKeyPair, importJWK, jwtDecrypt, jwtVerify, SignJWT } from "jose";

export default async function () {
  const secret = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
  const token = await new SignJWT({ scope: "ä" }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).setSubject("u1").setIssuer("i").setIssuedAt(1700000000).setExpirationTime(4000000000).sign(secret);
  const verified = await jwtVerify(token, secret, { issuer: "i", algorithms: ["HS256"] });
  const refused = await jwtVerify(token.slice(0, -2) + "xx", secret).catch(error => [error.code, error.name]);
  const late = await jwtVerify(token, secret, { maxTokenAge: "1h" }).catch(error => error.code);
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwks = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] });
  const signed = await new SignJWT({ n: 1 }).setProtectedHeader({ alg: "ES256", kid: "k" }).sign(privateKey);
  const box = await new EncryptJWT({ hidden: true }).setProtectedHeader({ alg: "dir", enc: "A256GCM" }).encrypt(secret);
  const key = await importJWK({ kty: "oct", k: base64url.encode(secret) }, "HS256");
  return [token, verified.payload, refused, late, (await jwtVerify(signed, jwks)).payload, decodeProtectedHeader(signed), (await jwtDecrypt(box, secret)).payload, (await jwtVerify(token, key)).payload.sub];
}
