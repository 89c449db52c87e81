export default ({ inputs }) => ({ total: inputs.rows, rows: Array.from({ length: inputs.rows }, (_, id) => ({ id, name: `row ${id}` })) });
