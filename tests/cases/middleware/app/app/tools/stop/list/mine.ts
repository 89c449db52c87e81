export default () => [1];
