import absent from "node:#absent";const $absent=absent("wasi","$HELP");export const WASI=$absent("WASI");export default{WASI};
