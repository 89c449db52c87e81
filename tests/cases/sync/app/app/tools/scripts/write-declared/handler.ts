export { default } from "../behind/handler.ts";
