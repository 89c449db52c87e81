export default (_, ctx) => ({ level: ctx.level + ', tool' });
