export default async () => { await null; throw new RangeError('Not tomorrow.'); };
