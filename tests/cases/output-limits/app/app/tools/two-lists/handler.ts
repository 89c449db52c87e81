export default () => ({ a: Array(300).fill(1), b: Array(300).fill(2) });
