import { response } from "millrace";

export default ({ results }) => response(results).text("The text of the mapper.").build();
