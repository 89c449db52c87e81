export default (_, ctx) => ({
  own: Object.keys(ctx.ok), polluted: ({}).admin ?? null, direct: ctx.admin ?? null, plain: Object.getPrototypeOf(ctx.ok) === Object.prototype,
  frozen: (() => { try { ctx.ok.fine = 4; return false; } catch (error) { return error instanceof TypeError; } })(),
});
