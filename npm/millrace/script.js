// The module "millrace" as handlers see it, for tests of them under Node. A reply is an object that says what it is:
// `{ kind: "toolError", code, message, … }`. Written by a test from npm/script/head.js, the prelude of scripts and npm/script/tail.js.
import { Buffer } from "node:buffer";

const reply = (kind, members) => Object.freeze({ kind, ...members });
const [made] = (
// What of the module "millrace" is written in script: results with content blocks, what people see, and questions to the caller.
// What it makes is checked by the core, not here.
(native => {
  'use strict';

  const base64 = data => {
    if (typeof data === 'string') return data;
    if (data instanceof ArrayBuffer) return native.base64(new Uint8Array(data));
    if (ArrayBuffer.isView(data)) return native.base64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    throw new TypeError('the data of a block must be base64, an `ArrayBuffer` or a view of one');
  };
  // A block, its own members first. `options` are the annotations, and `_meta`.
  const block = (type, members, options) => {
    const made = { type };
    const names = Object.keys(members);
    for (let i = 0; i < names.length; i++) if (members[names[i]] !== undefined) made[names[i]] = members[names[i]];
    if (options === undefined || options === null) return made;
    const { meta, ...annotations } = options;
    if (Object.keys(annotations).length > 0) made.annotations = annotations;
    if (meta !== undefined) made._meta = meta;
    return made;
  };

  // What people see. Known by its private member, so that nothing else passes for one.
  class UiBlock {
    #members;
    constructor(members) {
      this.#members = members;
    }
    static read(block) {
      if (block === null || typeof block !== 'object' || !(#members in block)) {
        throw new TypeError('`ui` takes what `echarts`, `mermaid`, `markdown`, `code`, `table`, `list`, `json` or `summary` returns');
      }
      return block.#members;
    }
  }
  Object.defineProperty(UiBlock.prototype, Symbol.toStringTag, { value: 'UiBlock' });
  const shown = kind => value => new UiBlock({ kind, value });
  const code = (language, text) => new UiBlock({ kind: 'code', language, value: text });
  const table = (columns, rows) => new UiBlock({ kind: 'table', columns, value: rows });
  const [echarts, mermaid, markdown, list, json, summary] = ['echarts', 'mermaid', 'markdown', 'list', 'json', 'summary'].map(shown);

  class ResponseBuilder {
    #built = { content: [], ui: [], hints: [], rules: [], actions: [] };
    constructor(...data) {
      if (data.length > 0 && data[0] !== undefined) this.#built.data = data[0];
    }
    #add(made) {
      this.#built.content.push(made);
      return this;
    }
    text(text, options) {
      return this.#add(block('text', { text: String(text) }, options));
    }
    image(data, mimeType, options) {
      return this.#add(block('image', { data: base64(data), mimeType }, options));
    }
    audio(data, mimeType, options) {
      return this.#add(block('audio', { data: base64(data), mimeType }, options));
    }
    resource(resource, options) {
      const { blob, ...rest } = resource;
      const made = blob === undefined ? rest : { ...rest, blob: base64(blob) };
      return this.#add(block('resource', { resource: made }, options));
    }
    resourceLink(link, options) {
      return this.#add(block('resource_link', link, options));
    }
    raw(text) {
      return this.text(text);
    }
    ui(block, { title, width, priority } = {}) {
      this.#built.ui.push({ ...UiBlock.read(block), title, width, priority });
      return this;
    }
    hint(text) {
      this.#built.hints.push(String(text));
      return this;
    }
    rule(text) {
      this.#built.rules.push(String(text));
      return this;
    }
    suggest(tool, reason, args) {
      this.#built.actions.push({ tool: String(tool), reason: String(reason), args });
      return this;
    }
    structured(value) {
      this.#built.structured = value;
      return this;
    }
    meta(meta) {
      this.#built.meta = { ...this.#built.meta, ...meta };
      return this;
    }
    build() {
      return native.content(this.#built);
    }
    // What a script returned without `build()`.
    static finish(value) {
      return #built in value ? native.content(value.#built) : value;
    }
  }
  Object.defineProperty(ResponseBuilder.prototype, Symbol.toStringTag, { value: 'ResponseBuilder' });
  const { finish } = ResponseBuilder;

  const response = data => new ResponseBuilder(data);
  const elicit = (message, requestedSchema = { type: 'object', properties: {} }) => ({
    method: 'elicitation/create',
    params: { message: String(message), requestedSchema },
  });
  const sample = params => ({ method: 'sampling/createMessage', params });
  const listRoots = () => ({ method: 'roots/list', params: {} });

  // The exports, and what builds what was not.
  const ui = { code, echarts, json, list, markdown, mermaid, summary, table };
  return [{ response, elicit, sample, listRoots, ...ui }, finish];
})
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
