export default (_, ctx) => ctx.db("main").query("SELECT text FROM notes");
