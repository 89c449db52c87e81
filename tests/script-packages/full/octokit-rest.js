import { Octokit } from "@octokit/rest";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([url, init.method, init.headers.authorization ?? null, init.body ?? null]);
    if (url.includes("missing")) return Response.json({ message: "Not Found", documentation_url: "https://docs" }, { status: 404 });
    const page = Number(new URL(url).searchParams.get("page") ?? 1);
    return Response.json([{ number: page, title: "é" }], { headers: page < 2 ? { link: `<https://api.github.com/repositories/1/issues?page=${page + 1}>; rel="next"` } : {} });
  };
  const kit = new Octokit({ auth: "t", request: { fetch }, userAgent: "x" });
  const issues = await kit.paginate(kit.rest.issues.listForRepo, { owner: "o", repo: "r" });
  const failed = await kit.request("GET /missing").catch(error => [error.name, error.status, error.message]);
  await kit.rest.issues.create({ owner: "o", repo: "r", title: "ä" });
  return [issues, failed, seen, kit.request.endpoint("GET /repos/{o}/{r}{?x}", { o: "a b", r: "b", x: "1" }).url];
}
