export default ({ results }) => ({ mapped: results });
