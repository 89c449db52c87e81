import absent from "node:#absent";const $absent=absent("dgram","$HELP");export const Socket=$absent("Socket");export const createSocket=$absent("createSocket");export default{Socket,createSocket};
