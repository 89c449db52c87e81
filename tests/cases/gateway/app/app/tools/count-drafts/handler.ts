import { response } from "millrace";

export default ({ inputs }) => (inputs.in_words ? response("Two drafts.").structured({ drafts: 2 }).build() : { drafts: 2 });
