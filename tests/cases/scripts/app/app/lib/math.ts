export interface Shape { side: number }
export const twice = (n: number) => n * 2;
export enum Colour { Red, Green }
export default function (n: number): number { return n ** 2; }
