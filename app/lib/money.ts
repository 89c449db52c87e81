/** Cents as people write them: 123456 is "1,234.56 EUR". */
export function euros(cents: number): string {
  const whole = Math.trunc(cents / 100).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  return `${whole}.${String(Math.abs(cents % 100)).padStart(2, "0")} EUR`;
}
