import { row } from '../log.ts';
const short = (value) => JSON.stringify(value ?? null);
export default async () => ({ derived: 1 });
export async function after({ inputs, result, error, duration_ms, tool }, ctx) {
  await row(ctx, `first: ${tool} ${short(inputs)} ${short(result)} ${short(error && [error.code, error.stage, error.message])} ${typeof duration_ms} ${ctx.derived}`);
  return 'ignored';
}
