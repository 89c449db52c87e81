// Packs texts into one file, `texts.br`: they are alike, and half as long together as each by itself.
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';

/** Takes texts and says which bytes of all of them each is, as a range of Rust; writes the file into a folder. */
export const pack = () => {
  const texts = [];
  let end = 0;
  return {
    add: text => {
      const bytes = Buffer.from(text);
      texts.push(bytes);
      return `${end}..${(end += bytes.length)}`;
    },
    write: folder => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: end };
      writeFileSync(`${folder}/texts.br`, brotliCompressSync(Buffer.concat(texts), { params }));
    },
  };
};
