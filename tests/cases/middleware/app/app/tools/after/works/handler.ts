export default () => ({ fine: true });
