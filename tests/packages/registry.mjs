// A registry of npm packages on this machine: those of a folder, as tarballs; every other is asked for at the registry that npm is
// configured with. Prints its port, and ends when its input does.
//
//   node registry.mjs FOLDER UPSTREAM
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";

const [folder, upstream] = process.argv.slice(2);
const packages = new Map();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
  const bytes = readFileSync(join(folder, file));
  const described = JSON.parse(execFileSync("tar", ["-xzOf", join(folder, file), "package/package.json"], { maxBuffer: 1 << 20 }));
  packages.set(described.name, { file, bytes, described, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` });
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://registry").pathname).slice(1);
  const own = [...packages.values()].find(({ described, file }) => path === described.name || path === `tarballs/${file}`);
  if (!own) {
    response.writeHead(302, { location: new URL(request.url.slice(1), upstream).href }).end();
  } else if (path.startsWith("tarballs/")) {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": own.bytes.length }).end(own.bytes);
  } else {
    const { name, version } = own.described;
    const tarball = `http://127.0.0.1:${server.address().port}/tarballs/${own.file}`;
    const versions = { [version]: { ...own.described, dist: { tarball, integrity: own.integrity } } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit());
