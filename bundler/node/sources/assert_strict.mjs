import assert from 'node:assert';

// By other names here: the functions have these, and messages show them.
const {
  AssertionError: $AssertionError, deepEqual: $deepEqual, deepStrictEqual: $deepStrictEqual, doesNotMatch: $doesNotMatch, doesNotReject: $doesNotReject, doesNotThrow: $doesNotThrow, equal: $equal, fail: $fail, ifError: $ifError, match: $match, notDeepEqual: $notDeepEqual, notDeepStrictEqual: $notDeepStrictEqual, notEqual: $notEqual, notStrictEqual: $notStrictEqual, ok: $ok, rejects: $rejects, strict: $strict, strictEqual: $strictEqual, throws: $throws,
} = assert.strict;
export {
  $AssertionError as AssertionError, $deepEqual as deepEqual, $deepStrictEqual as deepStrictEqual, $doesNotMatch as doesNotMatch, $doesNotReject as doesNotReject, $doesNotThrow as doesNotThrow, $equal as equal, $fail as fail, $ifError as ifError, $match as match, $notDeepEqual as notDeepEqual, $notDeepStrictEqual as notDeepStrictEqual, $notEqual as notEqual, $notStrictEqual as notStrictEqual, $ok as ok, $rejects as rejects, $strict as strict, $strictEqual as strictEqual, $throws as throws,
};
export default assert.strict;
