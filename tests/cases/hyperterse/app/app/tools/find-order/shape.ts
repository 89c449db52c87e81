export function rows(payload: any) { return payload.results.map((row: any) => ({ order: row.id, total: row.total })); }
