import { response } from "millrace";

export default () => {
  throw response(1).build();
};
