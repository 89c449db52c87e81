export default () => new Promise((go) => setTimeout(go, 60000));
