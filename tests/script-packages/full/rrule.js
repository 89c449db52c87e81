import rrule from "rrule";

export default function () {
  const { RRule, RRuleSet, rrulestr } = rrule;
  const rule = new RRule({ freq: RRule.WEEKLY, interval: 2, byweekday: [RRule.MO, RRule.FR], dtstart: new Date(Date.UTC(2024, 0, 31, 10)), count: 4 });
  const set = new RRuleSet();
  set.rrule(rule);
  set.exdate(new Date(Date.UTC(2024, 1, 2, 10)));
  return [rule.all(), rule.toString(), rule.toText(), set.all().length, rrulestr("DTSTART:20240229T000000Z\nRRULE:FREQ=YEARLY;COUNT=2").all(), rule.after(new Date(Date.UTC(2024, 1, 3))), RRule.fromText("every 3 weeks on Tuesday").toString()];
}
