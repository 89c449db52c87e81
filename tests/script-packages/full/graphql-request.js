import { ClientError, gql, GraphQLClient } from "graphql-request";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url), JSON.parse(init.body), new Headers(init.headers).get("x-a")]);
    return seen.length > 1 ? Response.json({ errors: [{ message: "nö" }], data: null }) : Response.json({ data: { user: { name: "é" } } });
  };
  const client = new GraphQLClient("https://example.com/graphql", { fetch, headers: { "x-a": "1" } });
  const got = await client.request(gql`query User($id: ID!) { user(id: $id) { name } }`, { id: 1 });
  const failed = await client.request("{ x }").catch(error => [error instanceof ClientError, error.response.errors, error.message.slice(0, 20)]);
  return [got, failed, seen];
}
