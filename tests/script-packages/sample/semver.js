import semver from "semver";

export default function () {
  return [
    semver.satisfies("1.2.3-beta.1", "^1.0.0", { includePrerelease: true }), semver.inc("1.2.3", "prerelease", "rc"), semver.sort(["1.10.0", "1.2.0", "2.0.0-a"]), semver.maxSatisfying(["1.2.3", "1.9.0", "2.0.0"], "1 || >=2.0.1"), new semver.Range(">=1.2 <2 || ~3.1").range, semver.diff("1.2.3", "2.0.0"),
    semver.coerce("v3.4 final")?.version, semver.valid("1.2"), semver.parse("1.2.3-a.1+b").prerelease, semver.intersects("^1", "~1.4"), semver.minVersion(">1.0.0").version, semver.gt("1.0.0", "1.0.0-rc"), semver.subset("^1.2", "^1"), (() => { try { semver.compare("x", "1.0.0"); } catch (error) { return error.message; } })(),
  ];
}
