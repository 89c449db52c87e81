interface Payload { headers: Record<string, string>; policy: { team: string; secret: string }; tool: string }
export default function ({ headers, policy, tool }: Payload) {
  if (headers["x-team-secret"] !== policy.secret) throw new Error(`wrong secret, not ${policy.secret}`);
  return { subject: `${policy.team}:${tool}`, scopes: ["team"], claims: { a: 1 } };
}
export function refuses() { throw new Error("never"); }
export function passes() {}
