import { response, type Handler } from "millrace";

const built: Handler<"built"> = ({ inputs }) => {
  const rows = Array.from({ length: inputs.rows }, (_, id) => ({ id, name: `row ${id}` }));
  const made = response(rows);
  for (let n = 0; n < inputs.pictures; n++) made.text(`picture ${n} `.padEnd(inputs.picture, "#"), { audience: ["user"] });
  made.text("For both.", { audience: ["user", "assistant"] });
  for (let n = 0; n < inputs.rules; n++) made.text(`Rule ${n}: `.padEnd(100, "-"), { audience: ["assistant"] });
  return made.build();
};
export default built;
