export default ({ inputs, tool }, ctx) => ({ trail: ctx.trail ?? [], derived: ctx.derived ?? null, inputs });
