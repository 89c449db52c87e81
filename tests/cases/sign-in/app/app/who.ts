export default (_, ctx) => ctx.auth;
