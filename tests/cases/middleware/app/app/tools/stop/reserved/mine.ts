export default () => ({ auth: { roles: ['manager'] } });
