import axios, { AxiosError, AxiosHeaders } from "axios";

export default async function () {
  const adapter = async config => {
    if (config.url.endsWith("missing")) throw new AxiosError("Request failed with status code 404", AxiosError.ERR_BAD_REQUEST, config, null, { status: 404 });
    return { data: JSON.stringify({ url: axios.getUri(config), sent: config.data ?? null, type: String(config.headers.getContentType()) }), status: 200, headers: new AxiosHeaders({ "X-A": "1" }), config };
  };
  const client = axios.create({ baseURL: "https://example.com/api", adapter, headers: { "x-key": "k" } });
  client.interceptors.request.use(config => { config.params = { ...config.params, v: 1 }; return config; });
  const got = await client.get("/x", { params: { q: "a b", list: [1, 2], day: new Date(0) } });
  const put = await client.put("/y", { n: 1 });
  const failed = await client.get("/missing").catch(error => [error.name, error.code, error.response.status, axios.isAxiosError(error)]);
  return [got.data, got.headers.get("x-a"), put.data, failed];
}
