import { error, toolError } from "millrace";
export default ({ inputs }, ctx) => {
  const secret = ctx.env.SCRIPT_SECRET;
  if (inputs.how === "error") return error(`no ${secret}`);
  if (inputs.how === "rejects") return Promise.reject({ message: `rejected ${secret}` });
  if (inputs.how === "text") throw `thrown ${secret}`;
  return toolError(`CODE ${secret}`, {
    message: `message ${secret}`, suggestion: `suggestion ${secret}`, available_actions: [`action ${secret}`],
    details: { [`key ${secret}`]: `value ${secret}` }, severity: inputs.how,
  });
};
