)({
  base64: bytes => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  content: built => reply("content", built),
});

export const { response, elicit, sample, listRoots, code, echarts, json, list, markdown, mermaid, summary, table } = made;
const textOf = value => (typeof value?.message === "string" ? value.message : String(value));
export const success = data => reply("success", { data });
export const error = (message, code) =>
  code === undefined || code === null ? reply("error", { message: textOf(message) }) : reply("toolError", { code: textOf(code), message: textOf(message) });
export const required = field => reply("required", { field: textOf(field) });
export const toolError = (code, options) => reply("toolError", { ...options, code: textOf(code) });
export const anonymous = members => reply("anonymous", { ...members });
// As in the first round of a call: nobody has answered yet.
export const requireInput = requests => {
  throw reply("inputRequired", { requests });
};
