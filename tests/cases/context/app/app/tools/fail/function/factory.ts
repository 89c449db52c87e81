export default () => ({ f() {} });
