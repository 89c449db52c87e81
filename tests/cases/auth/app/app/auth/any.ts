export default ({ headers }: { headers: Record<string, string> }) => JSON.parse(headers["x-principal"]);
