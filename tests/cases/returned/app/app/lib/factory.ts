import { toolError } from "millrace";
import { values } from "./values";
export default ({ request }: any) => {
  const kind = request.headers["x-kind"];
  if (kind === "thrown") throw toolError("NO_TENANT", { message: "never told" });
  return kind === "unawaited" ? (Promise.reject(new Error("never told")), {}) : values[kind]();
};
