export default async () => {
  const tried: Record<string, string> = {};
  for (const url of ["https://evil.example.com/", "http://127.0.0.1:1/", "file:///etc/passwd", "https://allowed.example.com.evil.example/", "https://x@evil.example.com/"]) {
    try { await fetch(url); tried[url] = "went out"; } catch (error) { tried[url] = (error as Error).message; }
  }
  return tried;
};
