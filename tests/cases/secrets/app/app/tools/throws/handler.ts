export default ({ inputs }, ctx) => {
  const { SCRIPT_SECRET: secret, UPSTREAM_URL: url, PIN: pin, MODE: mode, ZONE: zone } = ctx.env;
  const ways: Record<string, string> = {
    plain: `S ${secret}.`,
    upper: secret.toUpperCase(),
    encoded: `https://api.example.com/?key=${encodeURIComponent(secret)}&page=1`,
    search: String(new URL(`https://api.example.com/?${new URLSearchParams({ key: secret })}`)),
    json: JSON.stringify({ secret, text: `"${secret}"` }),
    basic: `Basic ${btoa(`user:${secret}`)}`,
    url: `${url} and its password pass-of-upstream and signature-of-url, but not api.example.com`,
    word: `${pin}, (${pin}), not ${pin}x`,
    short: `${mode} ${zone}`,
    long: "x".repeat(3990) + secret,
    echo: `no ${inputs.how}: script+secret`,
  };
  throw new Error(ways[inputs.how]);
};
