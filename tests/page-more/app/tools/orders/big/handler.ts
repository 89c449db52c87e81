export default () =>
  Array.from({ length: 1000 }, (_, row) => ({
    id: row + 1,
    day: new Date(1767225600000 + row * 86400000).toISOString().slice(0, 10),
    ...Object.fromEntries(Array.from({ length: 28 }, (_, column) => ["c" + column, column % 2 ? (row * 7919 + column) % 1000 : "text " + ((row * 31 + column) % 97)])),
  }));
