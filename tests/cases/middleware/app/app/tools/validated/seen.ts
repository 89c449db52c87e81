export default ({ inputs, tool }, ctx) => ({ derived: { inputs, tool, type: typeof inputs.id, frozen: Object.isFrozen(ctx) && Object.isFrozen(ctx.trail) } });
