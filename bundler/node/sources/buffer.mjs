import feross from 'buffer/index.js';

export const { Buffer, SlowBuffer, INSPECT_MAX_BYTES, kMaxLength } = feross;
export const kStringMaxLength = 2 ** 30 - 1;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
export const { atob, btoa, Blob, File } = globalThis;

const bytesOf = input => {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw Object.assign(new TypeError('The "input" argument must be an instance of ArrayBuffer, Buffer, or TypedArray.'), { code: 'ERR_INVALID_ARG_TYPE' });
};
export const isAscii = input => bytesOf(input).every(byte => byte < 128);
export const isUtf8 = input => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(input));
    return true;
  } catch {
    return false;
  }
};

Buffer.copyBytesFrom ??= (view, offset = 0, length = view.length - offset) => {
  const part = view.subarray(offset, offset + length);
  return Buffer.from(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
};
