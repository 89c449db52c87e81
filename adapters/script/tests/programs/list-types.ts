// ## enums
enum Plain { A, B = 5, C, D = B | 2, E = 'x'.length } enum Words { A = 'a', B = `b` } const enum Inline { One = 1, Two = One * 2 }
declare enum Outside { X }
export default () => [Plain.A, Plain[5], Plain.C, Plain.D, Plain.E, Words, Inline.Two, Object.entries(Plain), Plain['B']];
// ## enum-merges
enum E { A = 1 } enum E { B = 2 } namespace E { export const of = (n: number): string => E[n]! }
export default () => [E.of(1), E.of(2), Object.keys(E)];
// ## namespaces
namespace Outer.Inner { export let x = 1; export const inc = () => ++x; export function f() { return x } }
namespace Outer { const hidden = 1; export class C { h = hidden } export enum E { Z = 3 } }
namespace OnlyTypes { export type T = string; export interface I {} }
export default () => [Outer.Inner.inc(), Outer.Inner.x, new Outer.C().h, Outer.E.Z, Object.keys(Outer.Inner), typeof Outer];
// ## parameter-properties
class Base { constructor(protected readonly a: number, public b = 2) {} } class Sub extends Base { own = this.a + 1; constructor(private c: string, a = 5) { super(a); } get all() { return [this.a, this.b, this.c, this.own] } }
export default () => [new Sub('c').all, new Sub('d', 1).all, Object.keys(new Sub('e'))];
// ## overloads
function f(x: string): string; function f(x: number, y?: number): number; function f(x: unknown, y?: number): unknown { return typeof x === 'number' ? x + (y ?? 1) : `${x}!` }
class M { m(): void; m(x: number): number; m(x?: number) { return x } static s(): 1; static s() { return 1 as const } }
export default () => [f('a'), f(1), f(1, 5), new M().m(3), M.s()];
// ## generics-and-casts
const id = <T extends { a: number }>(x: T): T => x, cast = <unknown>5 as number, list = new Map<string, Array<[number, string?]>>([['a', [[1]]]]);
class Box<out T = string> { constructor(readonly v: T) {} map<U>(f: (x: T) => U): Box<U> { return new Box<U>(f(this.v)) } }
const make = Box<number>; 
export default () => [id({ a: 1 }), cast, list.get('a')!, new Box(2).map(x => `${x}`).v, new make(3).v, (cast satisfies number) < 6];
// ## abstract-and-implements
interface Named { name: string; greet?(): string } abstract class A implements Named { abstract name: string; greet() { return 'hi ' + this.name } protected abstract n(): number; get double() { return this.n() * 2 } }
class B extends A { override name = 'b'; protected override n() { return 21 } }
export default () => [new B().greet(), new B().double, Object.keys(new B())];
// ## declared-and-definite-fields
class P { x = 1; } class F extends P { declare x: number; y!: string; z?: number; readonly w: number = 4; [k: string]: unknown; static q: string }
export default () => [Object.keys(new F()), new F().x, 'q' in F];
// ## type-only
import type { X } from './nothing.ts'; export type { Z } from './nothing.ts';
type Local = X | Y; export type Y = number; export interface I extends Object {}
export default (x: Local = 5 as Local) => x;
// ## assertions-and-guards
function isText(x: unknown): x is string { return typeof x === 'string' } function must(x: unknown): asserts x { if (!x) throw new TypeError('must') }
class G { is(): this is { extra: 1 } { return 'extra' in this } }
export default () => { const out: unknown[] = [isText('a'), new G().is()]; try { must(0) } catch (e: unknown) { out.push((e as Error).name) } return out };
// ## satisfies-and-as-const
const config = { mode: 'a', list: [1, 2] } as const satisfies { mode: string; list: readonly number[] };
const t = [1, 'x'] satisfies [number, string]; let v = t![0]!; v = (<any>t)[1]; 
export default () => [config, t, v, (config as { mode: string }).mode!.length];
// ## generic-arrows-and-this
const f = async <T,>(x: T): Promise<T> => x; function g(this: { a: number }, b: number): number { return this.a + b }
const h = (x?: number, ...rest: readonly string[]): [number | undefined, ...string[]] => [x, ...rest];
export default async () => [await f(1), g.call({ a: 1 }, 2), h(), h(1, 'a'), g.length];
// ## conditional-and-mapped-types
type If<C, A, B> = C extends true ? A : B; type Getters<T> = { readonly [K in keyof T as `get${Capitalize<string & K>}`]-?: () => T[K] }; type Tail<T> = T extends [unknown, ...infer R extends unknown[]] ? R : never;
const g: Getters<{ a: number }> = { getA: () => 1 }; const t: Tail<[1, 2, 3]> = [2, 3]; let i: If<true, number, string> = 4; declare const nothing: unique symbol;
export default () => [g.getA(), t, i, typeof globalThis.undefined];
// ## class-expression-and-mixin
type Make<T = object> = new (...args: any[]) => T; const Timed = <B extends Make>(Base: B) => class extends Base { t = 5; static label = 'timed' };
class Plain { p = 1 } class Both extends Timed(Plain) { b = this.t + this.p }
export default () => [new Both().b, Both.label, Object.keys(new Both()), Both.name];
// ## accessors-with-types
class T { private _v = 0; get v(): number { return this._v } set v(x: number | string) { this._v = Number(x) } static get s(): string { return 's' } declare readonly ghost: number }
export default () => { const t = new T(); t.v = '7'; return [t.v, T.s, 'ghost' in t] };
// ## optional-call-and-non-null
interface O { a?: { b?: Array<() => number> } } const o: O = { a: { b: [() => 3] } };
export default () => [o.a!.b![0]!(), o?.a?.b?.[1]?.(), (o as any)!.zz?.yy!.xx, o.a!?.b?.length];
// ## module-scope-names
const name = 'mine', length = 3, Symbol2 = Symbol; class Map2 extends Map {} function toString() { return 'own' } let undefined2;
export { name as 'quoted name', length as default2 };
export default () => [name, length, new Map2([[1, 2]]).size, toString(), typeof Symbol2, undefined2];
// ## default-class-with-fields
export default Object.assign(() => new Made().x, {}); class Made { x = [this.constructor.name, new.target === undefined] }
// ## declaration-merging-of-class
class C { a = 1 } interface C { b: number } namespace C { export const made = new C(); export type T = number } C.prototype.b = 2;
export default () => [C.made.a, C.made.b, Object.keys(C)];
// ## using-type-names-as-values
type Date2 = Date; interface Widget { w: number } const Widget = (w: number): Widget => ({ w }); let type = 1, of = 2, as = 3, satisfies = 4, declare = 5, namespace = 6, abstract = 7, readonly = 8, is = 9, keyof = 10;
type = of + as; declare = namespace
export default () => [Widget(3), type, of, as, satisfies, declare, abstract, readonly, is, keyof, (0 as unknown as Date2)];
