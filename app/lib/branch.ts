// Which branch a caller works for. The statements bind it, so that nobody sees or changes anything of another branch.
import type { ContextFactory } from "millrace";

const BRANCHES: Record<string, string> = { clerk: "Lisbon", manager: "Zürich" };

const branch: ContextFactory = ({ auth }) => ({ branch: BRANCHES[auth?.subject ?? ""] });
export default branch;
