export default () => ({ done: true });
