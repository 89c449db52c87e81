export default ({ results }: { results: { a: number; b: string }[] }) => results.map((row) => ({ ...row, c: `mapped ${row.b}` }));
