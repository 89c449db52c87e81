export default () => [
  { id: 1001, month: "2026-01-31", revenue: 7618910, share: 0.5, note: "first, \"quoted\"", "much longer name": "a" },
  { id: 1002, month: "2026-02-28", revenue: 7549631.8, share: 12.25, note: "=SUM(A1)", "much longer name": "b" },
  { id: 1003, month: "2026-03-31", revenue: 12, share: 3, note: null, "much longer name": "c" },
  { id: 1004, month: "2026-04-30", revenue: 98765.43, share: 100, note: "line\nend", "much longer name": "a rather long text that takes a good deal of room" },
  { id: 1005, month: "2026-05-31", revenue: 1, share: 7, note: "tea", "much longer name": "e" },
  { id: 1006, month: "2026-06-30", revenue: 2, share: 8, note: "coffee", "much longer name": "f" },
];
