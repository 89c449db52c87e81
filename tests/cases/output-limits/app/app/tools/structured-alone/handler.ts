import { response } from "millrace";

export default () => response().structured({ rows: Array.from({ length: 100 }, (_, id) => ({ id })) }).build();
