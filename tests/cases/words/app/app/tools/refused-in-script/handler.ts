export default (_: unknown, ctx: any) => ctx.db("db").query("SELECT * FROM nothing");
