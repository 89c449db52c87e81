export default ({ results }) => ({ rows: results.length });
