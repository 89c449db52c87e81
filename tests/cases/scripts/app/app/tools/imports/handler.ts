import def, { twice as double, type Shape } from "../../lib/math";
import * as all from "../../lib/math";
import data from "../../lib/data.json";
export default () => ({ def: def(2), double: double(4), all: Object.keys(all).sort(), data, shape: ({ side: 2 } as Shape).side });
