import { toolError } from "millrace";
import { euros } from "../../lib/money";

enum Zone { Home = 490, Europe = 990, World = 2490 }
const EUROPE = new Set(["PT", "ES", "FR", "DE", "IT", "AT", "NL", "BE", "IE", "CH"]);

interface Inputs {
  country: string;
  items: { product_id: number; quantity: number }[];
}

export default async function ({ inputs }: { inputs: Inputs }, ctx: any) {
  let grams = 0;
  for (const item of inputs.items) {
    const [product] = await ctx.db("shop").query("SELECT weight_g FROM products WHERE id = ?1", [item.product_id]);
    if (!product) {
      return toolError("NOT_FOUND", { message: `No product ${item.product_id}.`, suggestion: "Use ids from 1 to 200." });
    }
    grams += product.weight_g * item.quantity;
  }
  const zone = inputs.country === "PT" ? Zone.Home : EUROPE.has(inputs.country) ? Zone.Europe : Zone.World;
  const cost_cents = zone + Math.ceil(grams / 1000) * 120;
  return { country: inputs.country, weight_g: grams, cost_cents, cost: euros(cost_cents) };
}
