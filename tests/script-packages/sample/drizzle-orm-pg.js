import { and, asc, count, desc, eq, gte, inArray, like, or, sql } from "drizzle-orm";
import { integer, pgTable, QueryBuilder, text, timestamp, uuid } from "drizzle-orm/pg-core";

const users = pgTable("users", { id: uuid("id").primaryKey().defaultRandom(), name: text("name").notNull(), age: integer("age"), created: timestamp("created_at").defaultNow() });
const posts = pgTable("posts", { id: integer("id").primaryKey(), author: uuid("author_id").references(() => users.id), title: text("title") });

export default function () {
  const query = new QueryBuilder();
  const first = query.select({ name: users.name, posts: count(posts.id) }).from(users).leftJoin(posts, eq(posts.author, users.id))
    .where(and(gte(users.age, 18), or(like(users.name, "A%"), inArray(users.id, ["x", "y"])))).groupBy(users.name).orderBy(desc(count(posts.id)), asc(users.name)).limit(5).toSQL();
  const second = query.select().from(users).where(sql`lower(${users.name}) = ${"zoë"}`).toSQL();
  return [first, second];
}
