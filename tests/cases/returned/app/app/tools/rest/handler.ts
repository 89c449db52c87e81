const row = { user: { password: "hidden", name: "n" }, token: "hidden", x: 1 };
const safe = ({ user: { password, ...user }, token: [first], ...rest }: any) => [user, rest];
export default () => {
  const { user: { password, ...user }, token, ...rest } = row;
  let other: unknown, name: unknown, length: unknown;
  ({ ["us" + "er"]: { name }, token: { length }, ...other } = row as any);
  const [{ user: { name: again }, token: gone, ...last }] = [row];
  return [user, rest, name, again, other, last, safe(row)];
};
