export default (_, ctx) => { ctx.progress(1, 2); };
