import punycode from 'punycode/punycode.js';

export const { decode, encode, toASCII, toUnicode, ucs2, version } = punycode;
export default punycode;
