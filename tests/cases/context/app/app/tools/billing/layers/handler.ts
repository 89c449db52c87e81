export default (_, ctx) => { const { signal, log, progress, db, cache, ...rest } = ctx; return rest; };
