import validator from "validator";

export default function () {
  return [
    ["a@b.co", "ü@exämple.de", "x@", "a b@c.de"].map(text => validator.isEmail(text)), validator.escape("<a href='x'>&"), validator.isURL("https://exämple.com/ä?q=1"), validator.isIBAN("DE89370400440532013000"), validator.isCreditCard("4111111111111111"), validator.isISO8601("2024-02-30", { strict: true }), validator.isAlpha("Zoë", "de-DE"), validator.normalizeEmail("Some.One+tag@GMail.com"), validator.isMobilePhone("+4915112345678", "de-DE"), validator.isStrongPassword("aB3$efgh"), validator.isUUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), validator.isIP("::1", 6), validator.isJSON("{"), validator.stripLow("a\u0001b"), validator.isByteLength("é", { max: 1 }), validator.toDate("2024-02-29"), validator.isPostalCode("10115", "DE"), validator.isSlug("a-b"),
  ];
}
