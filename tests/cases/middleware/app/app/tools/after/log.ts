export const row = (ctx, who) => ctx.db('main').query('INSERT INTO hits VALUES (?1)', [who]);
