export default ({ inputs }) => ({ sum: 42 });
