import { parse } from "csv-parse/browser/esm/sync";

export default function () {
  return [
    parse('a,b\n1,"x,y"\n2,z\n', { columns: true, cast: true }),
    parse("a|b\n c | d \n", { delimiter: "|", trim: true, skip_empty_lines: true, info: true })[1],
  ];
}
