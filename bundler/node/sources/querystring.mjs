import parseText from 'querystring-es3/decode.js';
import stringifyObject from 'querystring-es3/encode.js';

export const escape = value => encodeURIComponent(typeof value === 'string' ? value : String(value)).replace(/[()']/g, each => (each === "'" ? "'" : each));
export const unescape = text => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, run => new TextDecoder().decode(Uint8Array.from(run.slice(1).split('%'), byte => parseInt(byte, 16))));
  }
};
export const parse = (text, separator, assignment, options) => Object.setPrototypeOf(parseText(text, separator, assignment, options), null);
export const decode = parse;
export const stringify = (object, separator, assignment) => (object !== null && typeof object === 'object' ? stringifyObject(object, separator, assignment) : '');
export const encode = stringify;
