export default () => ({ tenant: null });
