import Stripe from "stripe";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url), init.method, init.body ?? null, new Headers(init.headers).get("authorization")]);
    return url.includes("charges") ? Response.json({ error: { type: "card_error", code: "card_declined", message: "Nö." } }, { status: 402 }) : Response.json({ id: "cus_1", object: "customer", email: "é@b.co" });
  };
  const stripe = new Stripe("sk_test_x", { httpClient: Stripe.createFetchHttpClient(fetch), maxNetworkRetries: 0, telemetry: false });
  const customer = await stripe.customers.create({ email: "é@b.co", metadata: { a: "1 2" }, expand: ["x"] });
  const failed = await stripe.charges.create({ amount: 1, currency: "eur" }).catch(error => [error.type, error.code, error.statusCode, error.message]);
  const body = '{"id":"evt_1","object":"event"}';
  const header = await stripe.webhooks.generateTestHeaderStringAsync({ payload: body, secret: "whsec", timestamp: 1700000000 });
  const event = await stripe.webhooks.constructEventAsync(body, header, "whsec", 1e10).catch(error => error.message);
  return [customer, failed, seen, header, event];
}
