export default ({ results }) => results.length;
