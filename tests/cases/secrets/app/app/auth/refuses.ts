interface Payload { headers: Record<string, string>; policy: { secret: string; list: string[]; map: { deep: string[] } } }
export default ({ headers, policy }: Payload) => {
  const token = headers.authorization.slice(7);
  console.warn(`checking ${token}`);
  throw new Error(`bad token ${token}, field ${headers["x-auth-token"]}, agent ${headers["user-agent"]}, policy ${JSON.stringify(policy)}`);
};
