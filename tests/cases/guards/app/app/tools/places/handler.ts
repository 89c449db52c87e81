export default ({ inputs }: any) => {
  if (inputs.fail) throw new Error("Not today.");
  return "done";
};
