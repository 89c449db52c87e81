export default () => { throw new Error("nobody"); };
