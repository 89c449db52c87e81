interface Payload { headers: Record<string, string> }
export default ({ headers }: Payload) => ({ subject: "u", claims: { token: headers.authorization.slice(7), key: headers["x-auth-token"] } });
