// What stands on the streams: text through them, and bodies. `streams` is the library.
((native, web, streams) => {
  'use strict';

  const { tag, textOf, TextDecoder } = web;
  const { ReadableStream, TransformStream } = streams;

  class TextDecoderStream {
    #decoder;
    #transform;
    constructor(label = 'utf-8', options = undefined) {
      const decoder = (this.#decoder = new TextDecoder(label, options));
      const give = (text, controller) => {
        if (text !== '') controller.enqueue(text);
      };
      this.#transform = new TransformStream({
        transform: (chunk, controller) => give(decoder.decode(chunk, { stream: true }), controller),
        flush: controller => give(decoder.decode(), controller),
      });
    }
    get encoding() {
      return this.#decoder.encoding;
    }
    get fatal() {
      return this.#decoder.fatal;
    }
    get ignoreBOM() {
      return this.#decoder.ignoreBOM;
    }
    get readable() {
      return this.#transform.readable;
    }
    get writable() {
      return this.#transform.writable;
    }
  }

  class TextEncoderStream {
    #transform;
    constructor() {
      let held = '';
      this.#transform = new TransformStream({
        transform(chunk, controller) {
          // The first half of a character may be the last of a chunk.
          const text = held + `${chunk}`;
          const last = text.charCodeAt(text.length - 1);
          const isHalf = last >= 0xd800 && last <= 0xdbff;
          held = isHalf ? text[text.length - 1] : '';
          const whole = isHalf ? text.slice(0, -1) : text;
          if (whole !== '') controller.enqueue(native.utf8Encode(whole));
        },
        flush(controller) {
          if (held !== '') controller.enqueue(native.utf8Encode(held));
        },
      });
    }
    get encoding() {
      return 'utf-8';
    }
    get readable() {
      return this.#transform.readable;
    }
    get writable() {
      return this.#transform.writable;
    }
  }
  tag(TextDecoderStream, 'TextDecoderStream');
  tag(TextEncoderStream, 'TextEncoderStream');

  const streamOf = bytes =>
    new ReadableStream({
      type: 'bytes',
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes.slice());
        controller.close();
      },
    });
  // All of a stream as bytes.
  const bytesOf = async stream => {
    const reader = stream.getReader();
    const chunks = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (native.classOf(value) !== 'Uint8Array') {
        const error = new TypeError('a body is made of `Uint8Array`s; `pipeThrough(new TextEncoderStream())` makes them of texts');
        await reader.cancel(error).catch(() => {});
        throw error;
      }
      chunks[chunks.length] = value;
      length += value.length;
    }
    const all = new Uint8Array(length);
    let at = 0;
    for (let i = 0; i < chunks.length; i++) {
      all.set(chunks[i], at);
      at += chunks[i].length;
    }
    return all;
  };
  return { globals: { ...streams, TextDecoderStream, TextEncoderStream }, streamOf, bytesOf, isDisturbed: stream => stream._disturbed };
})
