import { response } from "millrace";

export default () => response([1, 2, 3]).text("stays").build();
