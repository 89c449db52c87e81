export default () => { throw new Error("the factory's own secret words"); };
