export default async ({ inputs }, ctx) => (await fetch(`https://${inputs.region}.allowed.example/v1?api_key=${ctx.env.SCRIPT_SECRET}`)).status;
