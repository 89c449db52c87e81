export default (_, ctx) => { const { signal, log, progress, db, ...rest } = ctx; return rest; };
