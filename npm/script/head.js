// The module "millrace" as handlers see it, for tests of them under Node. A reply is an object that says what it is:
// `{ kind: "toolError", code, message, … }`. Written by a test from npm/script/head.js, the prelude of scripts and npm/script/tail.js.
import { Buffer } from "node:buffer";

const reply = (kind, members) => Object.freeze({ kind, ...members });
const [made] = (
