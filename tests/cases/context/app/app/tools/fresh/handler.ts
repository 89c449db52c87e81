export default (_, ctx) => ctx.number;
