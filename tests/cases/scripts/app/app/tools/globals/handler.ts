export default async () => ({
  url: new URL("../b?x=1#y", "https://user@example.com:8080/a/c").href,
  search: [...new URLSearchParams("a=1&b=%20&a=2").getAll("a")],
  bytes: [...new TextEncoder().encode("é🦀")],
  text: new TextDecoder().decode(new Uint8Array([195, 169])),
  base64: [btoa("hello"), atob("aGVsbG8=")],
  clone: structuredClone({ a: [1, new Date(0)], m: new Map([["k", 1]]) }).a[0],
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
  random: crypto.getRandomValues(new Uint8Array(4)).length,
  digest: [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")))].map((b) => b.toString(16).padStart(2, "0")).join(""),
  json: JSON.stringify({ d: new Date(0), u: undefined, n: NaN }),
});
