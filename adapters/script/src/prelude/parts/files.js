// Blob, File and FormData, and how a form is written into a body and read from one. Part of an image where a program names them.
((native, web) => {
  'use strict';

  const { need, dictionary, isObject, textOf, view, tag, iterable } = web;
  const { DOMException } = globalThis;

  const joined = (chunks, length) => {
    const all = new Uint8Array(length);
    let at = 0;
    for (let i = 0; i < chunks.length; i++) {
      all.set(chunks[i], at);
      at += chunks[i].length;
    }
    return all;
  };
  const mediaType = value => {
    const text = value === undefined ? '' : `${value}`;
    return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : '';
  };

  let bytesIn;
  class Blob {
    // Nothing writes into it, so slices share it.
    #bytes;
    #type;
    constructor(parts = undefined, options = undefined) {
      const chunks = [];
      let length = 0;
      if (parts !== undefined) {
        if (!isObject(parts) || typeof parts[Symbol.iterator] !== 'function') throw new TypeError('`Blob` takes a list of parts');
        const { endings, type } = dictionary(options, 'Blob');
        if (endings !== undefined && endings !== 'transparent' && endings !== 'native') {
          throw new TypeError('`endings` must be `transparent` or `native`');
        }
        this.#type = mediaType(type);
        for (const part of parts) {
          let bytes;
          if (part instanceof ArrayBuffer || ArrayBuffer.isView(part)) bytes = view(part).slice();
          else if (isObject(part) && #bytes in part) bytes = part.#bytes;
          else {
            const text = textOf(part);
            bytes = native.utf8Encode(endings === 'native' ? text.replace(/\r\n?/g, '\n') : text);
          }
          chunks[chunks.length] = bytes;
          length += bytes.length;
        }
      } else this.#type = mediaType(dictionary(options, 'Blob').type);
      this.#bytes = chunks.length === 1 ? chunks[0] : joined(chunks, length);
    }
    get size() {
      return this.#bytes.length;
    }
    get type() {
      return this.#type;
    }
    slice(start = 0, end = undefined, type = '') {
      const place = (value, other) => {
        const number = value === undefined ? other : Math.trunc(Number(value)) || 0;
        return number < 0 ? Math.max(this.size + number, 0) : Math.min(number, this.size);
      };
      const from = place(start, 0);
      const made = new Blob();
      made.#bytes = this.#bytes.subarray(from, Math.max(from, place(end, this.size)));
      made.#type = mediaType(type);
      return made;
    }
    async arrayBuffer() {
      return this.#bytes.slice().buffer;
    }
    async bytes() {
      return this.#bytes.slice();
    }
    async text() {
      return native.utf8Decode(this.#bytes, false, false);
    }
    stream() {
      return web.streamOf(this.#bytes);
    }
    static {
      bytesIn = blob => blob.#bytes;
    }
  }

  class File extends Blob {
    #name;
    #lastModified;
    constructor(parts, name, options = undefined) {
      need(arguments.length, 2, 'File');
      super(parts, options);
      const { lastModified } = dictionary(options, 'File');
      this.#name = textOf(name);
      this.#lastModified = lastModified === undefined ? Date.now() : Math.trunc(Number(lastModified)) || 0;
    }
    get name() {
      return this.#name;
    }
    get lastModified() {
      return this.#lastModified;
    }
    get webkitRelativePath() {
      return '';
    }
  }

  class FormData {
    #entries = [];
    constructor(form = undefined) {
      if (form !== undefined) throw new TypeError('`FormData` takes nothing: scripts have no page with a form');
    }
    static #entry(name, value, fileName, count) {
      const key = textOf(name);
      if (!(value instanceof Blob)) {
        if (count > 2) throw new TypeError('a file name goes with a `Blob` only');
        return [key, textOf(value)];
      }
      if (value instanceof File && count < 3) return [key, value];
      const called = count > 2 ? textOf(fileName) : 'blob';
      const options = { type: value.type, lastModified: value instanceof File ? value.lastModified : undefined };
      return [key, new File([value], called, options)];
    }
    append(name, value, fileName = undefined) {
      need(arguments.length, 2, 'append');
      this.#entries[this.#entries.length] = FormData.#entry(name, value, fileName, arguments.length);
    }
    set(name, value, fileName = undefined) {
      need(arguments.length, 2, 'set');
      const entry = FormData.#entry(name, value, fileName, arguments.length);
      const at = this.#entries.findIndex(other => other[0] === entry[0]);
      if (at < 0) this.#entries[this.#entries.length] = entry;
      else this.#entries = this.#entries.map((other, i) => (i === at ? entry : other)).filter((other, i) => i <= at || other[0] !== entry[0]);
    }
    delete(name) {
      need(arguments.length, 1, 'delete');
      const key = textOf(name);
      this.#entries = this.#entries.filter(entry => entry[0] !== key);
    }
    get(name) {
      need(arguments.length, 1, 'get');
      const key = textOf(name);
      return this.#entries.find(entry => entry[0] === key)?.[1] ?? null;
    }
    getAll(name) {
      need(arguments.length, 1, 'getAll');
      const key = textOf(name);
      return this.#entries.filter(entry => entry[0] === key).map(entry => entry[1]);
    }
    has(name) {
      need(arguments.length, 1, 'has');
      const key = textOf(name);
      return this.#entries.some(entry => entry[0] === key);
    }
    forEach(callback, self = undefined) {
      if (typeof callback !== 'function') throw new TypeError('`forEach` takes a function');
      for (const [name, value] of this) Reflect.apply(callback, self, [value, name, this]);
    }
    *#walk(take) {
      for (let i = 0; i < this.#entries.length; i++) yield take(this.#entries[i]);
    }
    entries() {
      return this.#walk(entry => [entry[0], entry[1]]);
    }
    keys() {
      return this.#walk(entry => entry[0]);
    }
    values() {
      return this.#walk(entry => entry[1]);
    }
  }
  iterable(FormData);
  tag(Blob, 'Blob');
  tag(File, 'File');
  tag(FormData, 'FormData');

  // bodies: https://www.rfc-editor.org/rfc/rfc7578, as the standard of HTML has it

  const quoted = text => text.replace(/[\n\r"]/g, found => (found === '\n' ? '%0A' : found === '\r' ? '%0D' : '%22'));
  const withBreaks = text => text.replace(/\r?\n|\r/g, '\r\n');
  const written = form => {
    let digits = '';
    for (const byte of native.random(12)) digits += `${byte % 10}`;
    const boundary = `----formdata-millrace-${digits}`;
    const chunks = [];
    let length = 0;
    const add = bytes => {
      chunks[chunks.length] = bytes;
      length += bytes.length;
    };
    for (const [name, value] of form) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(withBreaks(name))}"`;
      if (typeof value === 'string') add(native.utf8Encode(`${head}\r\n\r\n${withBreaks(value)}\r\n`));
      else {
        add(native.utf8Encode(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`));
        add(bytesIn(value));
        add(native.utf8Encode('\r\n'));
      }
    }
    add(native.utf8Encode(`--${boundary}--\r\n`));
    return { bytes: joined(chunks, length), type: `multipart/form-data; boundary=${boundary}` };
  };

  const utf8 = (bytes, from, to) => native.utf8Decode(bytes.subarray(from, to), false, true);
  const unquoted = text => text.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
  // Characters are bytes, so that the engine itself finds what is looked for.
  const readMultipart = (bytes, boundary) => {
    const malformed = () => new TypeError('the body is not `multipart/form-data` with the boundary that its type names');
    const text = native.latin1(bytes);
    const form = new FormData();
    const mark = `--${boundary}`;
    let at = text.startsWith(mark) ? 0 : text.indexOf(`\r\n${mark}`) + 2;
    if (at < 2 && !text.startsWith(mark)) throw malformed();
    for (;;) {
      at += mark.length;
      if (text.startsWith('--', at)) return form;
      if (!text.startsWith('\r\n', at)) throw malformed();
      const headEnd = text.indexOf('\r\n\r\n', at);
      const end = headEnd < 0 ? -1 : text.indexOf(`\r\n${mark}`, headEnd + 2);
      if (end < 0) throw malformed();
      const head = utf8(bytes, at + 2, headEnd);
      const disposition = /^content-disposition:[ \t]*form-data[ \t]*;(.*)$/im.exec(head);
      const name = disposition && /(?:^|;)[ \t]*name="([^"]*)"/i.exec(disposition[1]);
      if (!name) throw malformed();
      const fileName = /(?:^|;)[ \t]*filename="([^"]*)"/i.exec(disposition[1]);
      const from = headEnd + 4;
      if (fileName) {
        const type = /^content-type:[ \t]*(.*?)[ \t]*$/im.exec(head);
        const content = bytes.slice(from, Math.max(from, end));
        form.append(unquoted(name[1]), new File([content], unquoted(fileName[1]), { type: type ? type[1] : 'text/plain' }));
      } else form.append(unquoted(name[1]), utf8(bytes, from, Math.max(from, end)));
      at = end + 2;
    }
  };
  const read = (bytes, type) => {
    const [, essence, parameters] = /^[ \t]*([^;]*?)[ \t]*(;.*)?$/s.exec(type ?? '') ?? [];
    if (essence?.toLowerCase() === 'multipart/form-data') {
      const boundary = /;[ \t]*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(parameters ?? '');
      if (boundary) return readMultipart(bytes, boundary[1] ?? boundary[2]);
    }
    if (essence?.toLowerCase() === 'application/x-www-form-urlencoded') {
      const form = new FormData();
      for (const [name, value] of new web.URLSearchParams(utf8(bytes))) form.append(name, value);
      return form;
    }
    throw new TypeError('the body is not a form: its type is neither `multipart/form-data` nor `application/x-www-form-urlencoded`');
  };

  return { globals: { Blob, File, FormData }, bytesIn, written, read };
})
