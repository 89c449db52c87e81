export default (_, ctx) => `${ctx.auth.subject}: ${ctx.auth.scopes.join(" ")}`;
