import { row } from '../log.ts';
export async function after(_, ctx) {
  await row(ctx, 'last');
  throw new Error('changes nothing');
}
