// What of the module "millrace" is written in script: results with content blocks, and questions to the caller.
// Everything made here outlives calls, so nothing here keeps state. What it makes is checked by the core, not here.
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
    for (const [name, value] of Object.entries(members)) if (value !== undefined) made[name] = value;
    if (options === undefined || options === null) return made;
    const { meta, ...annotations } = options;
    if (Object.keys(annotations).length > 0) made.annotations = annotations;
    if (meta !== undefined) made._meta = meta;
    return made;
  };

  class ResponseBuilder {
    #built = { content: [] };
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
  }

  const response = data => new ResponseBuilder(data);
  const elicit = (message, requestedSchema = { type: 'object', properties: {} }) => ({
    method: 'elicitation/create',
    params: { message: String(message), requestedSchema },
  });
  const sample = params => ({ method: 'sampling/createMessage', params });
  const listRoots = () => ({ method: 'roots/list', params: {} });

  // The exports; then what a patched built-in could get hold of, to be frozen, too.
  return [{ response, elicit, sample, listRoots }, [native, ResponseBuilder, base64, block]];
})
