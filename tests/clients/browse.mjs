// What a browser does in a sign-in, for the clients of this folder.

// Where it is sent back to.
export const redirectUrl = "http://127.0.0.1:9/callback";

// Follows redirects with its cookies, until it is sent back to the client.
const cookies = new Map();
export async function browse(url) {
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const next = response.headers.get("location");
    if (!next) throw new Error(`${response.status} ${url}: ${await response.text()}`);
    url = new URL(next, url);
    if (url.href.startsWith(redirectUrl)) return url.searchParams;
  }
  throw new Error("the server redirects without end");
}
