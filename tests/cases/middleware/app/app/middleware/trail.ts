export const root = (_, ctx) => ({ trail: [...(ctx.trail ?? []), 'root'] });
export const outer = (_, ctx) => ({ trail: [...(ctx.trail ?? []), 'outer'] });
export const inner = (_, ctx) => ({ trail: [...(ctx.trail ?? []), 'inner'] });
export const own = (_, ctx) => ({ trail: [...(ctx.trail ?? []), 'own'] });
