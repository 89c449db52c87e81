import { countTokens, decode, encode, isWithinTokenLimit } from "gpt-tokenizer";

export default function () {
  const text = "Hello, wörld! 日本語 👩‍👩‍👧 functionName(42)";
  const tokens = encode(text);
  return [tokens, decode(tokens) === text, countTokens("The quick brown fox jumps over the lazy dog."), isWithinTokenLimit(text, 5)];
}
