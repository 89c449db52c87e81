export default async () => {
  const said: unknown[] = [];
  for (const redirect of ["zz", "", null, "Manual", "error", "manual", "follow", undefined]) {
    try { said.push(new Request("https://allowed.example.com/", { redirect } as RequestInit).redirect); } catch (error) { said.push(String(error)); }
  }
  for (const url of ["https://a b.example/?key=k", "/relative?key=k", "https://:x@/"]) {
    try { await fetch(url, { redirect: "error" }); } catch (error) { said.push(String(error)); }
  }
  return said;
};
