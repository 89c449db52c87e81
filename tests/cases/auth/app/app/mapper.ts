export default () => { throw new Error("the mapper ran"); };
