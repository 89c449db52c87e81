export default (_, ctx) => [ctx.auth?.subject ?? "nobody"];
