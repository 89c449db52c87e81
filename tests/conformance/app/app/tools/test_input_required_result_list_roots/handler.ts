import { listRoots, requireInput } from "millrace";

export default function () {
  const { client_roots } = requireInput({ client_roots: listRoots() });
  return client_roots.roots.map((root) => root.uri).join(", ");
}
