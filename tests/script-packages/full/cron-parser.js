import { CronExpressionParser } from "cron-parser";

export default function () {
  const options = { currentDate: new Date("2024-01-30T12:00:00Z"), tz: "UTC" };
  const caught = (() => { try { CronExpressionParser.parse("61 * * * *"); } catch (error) { return error.message; } })();
  return [CronExpressionParser.parse("0 0 29 2 *", options).take(2).map(date => date.toISOString()), CronExpressionParser.parse("*/15 9-17 * * 1-5", options).next().toISOString(), CronExpressionParser.parse("0 12 L * *", options).prev().toISOString(), CronExpressionParser.parse("0 8 * * MON#1", options).stringify(), caught];
}
