export default function (): never { throw new Error("it broke: <b> & 'c'"); }
export function text() { throw "just a string"; }
export function nothing() { throw undefined; }
export async function rejects() { await null; throw new RangeError("late"); }
export function pending() { return new Promise(() => {}); }
export function fn() { return { items: [1, { f() {} }] }; }
export function cycle() { const a: any = {}; a.self = a; return a; }
export function big() { return Symbol("big"); }
export function loop() { for (;;) {} }
export function deep() { return deep(); }
export function huge() { return "x".repeat(3000); }
export function number() { return 7; }
export function undef() {}
export function ok() { return { fine: true }; }
