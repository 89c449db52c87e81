// Writes everything that it is told of a call to the log.
export function after({ result, error }: { result: unknown; error: unknown }, ctx: { log: { info(text: string): void } }) {
  ctx.log.info(`seen ${JSON.stringify({ result, error })}`);
}
