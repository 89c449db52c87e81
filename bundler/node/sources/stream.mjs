import stream from 'readable-stream/lib/ours/browser.js';

const Stream = stream.Stream;
// Of CommonJS, where the module is the class.
Stream.Stream = Stream;
export const {
  Duplex, PassThrough, Readable, Transform, Writable, addAbortSignal, compose, destroy, finished, isDisturbed, isErrored, isReadable, pipeline, promises,
} = stream;
export { Stream };
export default Stream;
