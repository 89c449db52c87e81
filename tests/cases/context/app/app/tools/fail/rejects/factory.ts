export default async () => { await null; throw new TypeError("the factory's own secret words"); };
