export default () => {
  const tried: string[] = [];
  for (const code of [() => (globalThis as any)["ev" + "al"]("1"), () => (globalThis as any)["Fun" + "ction"]("return 1")(), () => (async () => {}).constructor("return 1")()]) {
    try { code(); tried.push("ran"); } catch (error) { tried.push((error as Error).name); }
  }
  return tried;
};
