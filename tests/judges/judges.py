#!/usr/bin/env python3
"""The judges of `scripts/judges`: programs of others that grade any MCP server, on the sample shop.

The shop is served with TLS by `millrace dev`, and once more over standard input and output. Nothing leaves the machine, and no judge asks a
model. For each judge: its score, the bar, and what it found. What a judge is wrong about is named here, with the reason; anything else that
it finds below the bar fails the run. Whole reports are in `target/judges`.
"""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile, textwrap, urllib.request, ssl

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.environ.get("MILLRACE_TEST_TOOLS", os.path.join(ROOT, "target", "tools"))
BIN = os.environ.get("MILLRACE_JUDGES", os.path.join(TOOLS, "judges/bin"))
REPORTS = os.path.join(ROOT, "target", "judges")
CLERK, MANAGER = "clerk-key-of-the-judges", "manager-key-of-the-judges"

# mcpscore wants `listChanged`. Over HTTP there is no session to tell a client in, so saying so would be a lie; over standard input and output
# `dev` says it, and does it.
NO_SESSION = {"capability_tools_list_changed", "capability_prompts_list_changed", "capability_resources_list_changed"}
MCPSCORE_MISSES = 2
# Faults of mcp-quality: it compares the list of one revision with that of another, it calls tools without credentials, and takes an icon that is
# a `data:` URL for a secret.
QUALITY_FAULTS = {
    "C12-tools-list-unstable": "compares the list of 2026-07-28 with that of 2025-11-25",
    "C4-invocation-error": "calls tools that need a key without one",
    "S2-secret-high-entropy": "takes the icon, a `data:` URL, for a secret",
}
# What Cisco's scanner may find: MCPS-002, that lists are open. They are, since nine of the tools are.
CISCO_MEANT = {"MCPS-002"}
# agent-friend takes 20 points of correctness for each name with a hyphen, so with five such names nothing else counts. Names with hyphens are
# what the protocol allows and all clients take, and no tool is renamed for a judge: the bar is for the same list with `_` in the names.
AGENT_FRIEND_LEAST = 60
# The table of `idempotency`, as the connector makes it at the first call: mcp-groundtruth has to know all tables beforehand.
RECORDS = "CREATE TABLE millrace_calls (key TEXT NOT NULL PRIMARY KEY, expires_at INTEGER NOT NULL, affected INTEGER, rows BLOB)"


class Row:
    """What one judge said."""

    def __init__(self, judge, score, bar, holds, found=()):
        self.judge, self.score, self.bar, self.holds, self.found = judge, score, bar, holds, list(found)


class Shop:
    """The sample shop in a folder of its own, served with a certificate of its own authority."""

    def __init__(self, millrace, folder):
        self.millrace, self.folder = millrace, os.path.join(folder, "shop")
        os.mkdir(self.folder)
        shutil.copytree(os.path.join(ROOT, "app"), os.path.join(self.folder, "app"))
        shutil.copy(os.path.join(ROOT, "millrace.yaml"), self.folder)
        self.authority, certificate, key = certificates(folder)
        self.env = {**os.environ, "SHOP_CLERK_KEY": CLERK, "SHOP_MANAGER_KEY": MANAGER}
        command = [millrace, "dev", self.folder, "--port", "0", "--tls-cert", certificate, "--tls-key", key]
        self.server = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        said = ""
        for line in self.server.stdout:
            said += line
            if found := re.search(r"https://127\.0\.0\.1:(\d+)/mcp", line):
                self.url = f"https://localhost:{found[1]}/mcp"
                break
        else:
            sys.exit(f"judges: the shop is not served:\n{said}")
        # What it says from now on is kept, so that it never waits for a reader.
        self.log = subprocess.Popen(["cat"], stdin=self.server.stdout, stdout=open(os.path.join(REPORTS, "shop.log"), "w"))

    def end(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)
        self.log.wait(30)

    def tools(self):
        """`tools/list` as most clients ask for it today."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        header = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        context = ssl.create_default_context(cafile=self.authority)
        with urllib.request.urlopen(urllib.request.Request(self.url, body, header), context=context, timeout=30) as answer:
            return json.load(answer)["result"]["tools"]


def certificates(folder):
    """An authority, and a certificate for `localhost` with its key."""
    path = lambda name: os.path.join(folder, name)
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    with open(path("extensions"), "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        file.write("authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
    for arguments in (
        ["req", "-x509", *new, "-keyout", path("ca.key"), "-out", path("ca.crt"), "-days", "2", "-subj", "/CN=the judges' authority",
         "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"],
        ["req", *new, "-keyout", path("tls.key"), "-out", path("tls.csr"), "-subj", "/CN=localhost"],
        ["x509", "-req", "-in", path("tls.csr"), "-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial", "-days", "2",
         "-extfile", path("extensions"), "-out", path("tls.crt")],
    ):  # fmt: skip
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"judges: openssl {arguments[0]}: {done.stderr}")
    return path("ca.crt"), path("tls.crt"), path("tls.key")


def ask(shop, name, program, *arguments, env=None, folder=None):
    """Runs a judge. What it writes is its report."""
    trust = {"SSL_CERT_FILE": shop.authority, "REQUESTS_CA_BUNDLE": shop.authority, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_COLOR": "1"}
    command = [os.path.join(BIN, program), *arguments]
    done = subprocess.run(
        command, env={**shop.env, **trust, **(env or {})}, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=1200,
    )  # fmt: skip
    with open(os.path.join(REPORTS, f"{name}.txt"), "w") as file:
        file.write(f"{done.stderr}\n{done.stdout}")
    return done


def report(done, judge):
    """The JSON that a judge wrote, after whatever else it said."""
    starts = [found.start() for found in re.finditer(r"^[\[{]", done.stdout, re.M)]
    for start in starts:
        try:
            return json.JSONDecoder().raw_decode(done.stdout[start:])[0]
        except ValueError:
            continue
    raise RuntimeError(f"{judge} gave no report (exit code {done.returncode}): {(done.stderr or done.stdout).strip()[-600:]}")


def mcpscore(shop, _folder):
    yield from one_mcpscore(shop, "mcpscore, HTTP with TLS", "mcpscore-http", ["--token", MANAGER, shop.url], NO_SESSION)
    own = os.path.join(_folder, "stdio")
    shutil.copytree(os.path.join(shop.folder, "app"), os.path.join(own, "app"))
    shutil.copy(os.path.join(shop.folder, "millrace.yaml"), own)
    names = ["SHOP_CLERK_KEY", "SHOP_MANAGER_KEY", "MILLRACE_HEADER_AUTHORIZATION"]
    arguments = [*(word for name in names for word in ("--env", name)), "--stdio", shop.millrace, "dev", own, "--stdio"]
    env = {"MILLRACE_HEADER_AUTHORIZATION": f"Bearer {MANAGER}"}
    yield from one_mcpscore(shop, "mcpscore, standard input and output", "mcpscore-stdio", arguments, set(), env)


def one_mcpscore(shop, judge, name, arguments, excepted, env=None):
    # Its smoke checks call what is said to be read only.
    said = report(ask(shop, name, "mcpscore", "--no-config", "--json", "--smoke", *arguments, env=env), judge)
    missed = [result for result in said["results"] + ((said.get("readiness") or {}).get("results") or []) if not result["passed"]]
    missed = list({result["rule_id"]: result for result in missed}.values())
    smoke = said["smoke"]["summary"]
    misses = said["max_score"] - said["score"]
    excused = sum(result["severity_value"] for result in missed if result["rule_id"] in excepted)
    found = [f"{result['rule_id']} ({result['severity_value']})" for result in missed]
    found += [f"smoke check {check['check_id']} of {check['tool_name']}" for check in said["smoke"]["checks"] if check["verdict"] == "fail"]
    bar = f"misses ≤ {MCPSCORE_MISSES}" + (" besides listChanged" if excepted else "")
    score = f"{said['score']}/{said['max_score']}, smoke {smoke['passed']}/{smoke['passed'] + smoke['failed']}"
    yield Row(judge, score, bar, misses - excused <= MCPSCORE_MISSES and smoke["failed"] == 0 and not said["partial"], found)


def mcp_quality(shop, _folder):
    said = report(ask(shop, "mcp-quality", "mcp-quality", "run", "--all", "--json", shop.url), "mcp-quality")
    found = {}
    for family in said["families"].values() if isinstance(said["families"], dict) else said["families"]:
        for finding in family.get("findings") or []:
            found.setdefault(finding["code"], []).append(finding.get("tool") or "")
    told = []
    for code, tools in found.items():
        names = ", ".join(sorted(filter(None, tools)))
        told.append(f"{code}{': ' + names if names else ''}" + (f" (its fault: {QUALITY_FAULTS[code]})" if code in QUALITY_FAULTS else ""))
    overall = said["overall"]
    yield Row("mcp-quality run --all", f"{overall['score']}, {overall['grade']}", "grade A", overall["grade"] == "A", told)


def mcp_gauntlet(shop, folder):
    ask(shop, "mcp-gauntlet", "mcp-gauntlet", "run", "--no-agentic", "--no-track-drift", "--out", REPORTS + "/gauntlet", shop.url, folder=folder)
    with open(os.path.join(REPORTS, "gauntlet/report.json")) as file:
        said = json.load(file)
    findings = [finding for dimension in said["dimensions"] for finding in dimension["findings"] if finding["severity"] != "info"]
    found = [f"{finding['severity']}: {finding['tool'] or ''} {finding['message']}" for finding in findings]
    yield Row("mcp-gauntlet", f"{said['overall_score']}, {said['grade']}", "100", said["overall_score"] == 100, found)


def mcp_scanner(shop, _folder):
    what = {"remote": [], "prompts": [], "resources": ["--mime-types", "text/plain,text/html,text/markdown"], "instructions": []}
    safe, items, found = 0, 0, []
    for command, more in what.items():
        done = ask(shop, f"mcp-scanner-{command}", "mcp-scanner", "--analyzers", "yara", "--raw", command, "--server-url", shop.url, *more)
        said = report(done, f"mcp-scanner {command}")
        for item in said if isinstance(said, list) else said.get("results", [said]):
            items += 1
            if item.get("is_safe") is True and item.get("status") == "completed":
                safe += 1
            else:
                name = item.get("tool_name") or item.get("prompt_name") or item.get("resource_uri") or command
                found.append(f"{command} {name}: {item.get('status')}, {json.dumps(item.get('findings'))}")
    done = ask(shop, "mcp-scanner-protocol", "mcp-scanner", "--analyzers", "yara", "--raw", "protocol", "--server-url", shop.url)
    protocol = report(done, "mcp-scanner protocol")["findings"]
    checks = [finding["details"]["check_id"] for finding in protocol]
    found += [f"{finding['details']['check_id']}: {finding['summary']}" for finding in protocol]
    holds = items > 0 and safe == items and set(checks) <= CISCO_MEANT
    yield Row("mcp-scanner (Cisco), yara and protocol", f"{safe}/{items} safe", "all safe, nothing but open lists", holds, found)


def mcpgt(shop, folder):
    own = os.path.join(folder, "groundtruth")
    os.mkdir(own)
    with open(os.path.join(shop.folder, "app/adapters/shop.sql")) as seed, open(os.path.join(own, "shop.sql"), "w") as file:
        file.write(f"{seed.read()}\n{RECORDS};\n")
    with open(os.path.join(ROOT, "tests/judges/target.toml")) as file:
        target = file.read()
    for name, value in {"SHOP": shop.folder, "MILLRACE": shop.millrace, "CLERK": CLERK, "MANAGER": MANAGER}.items():
        target = target.replace(f"@{name}@", value)
    with open(os.path.join(own, "target.toml"), "w") as file:
        file.write(target)
    runs = os.path.join(REPORTS, "groundtruth")
    done = ask(shop, "mcp-groundtruth", "mcpgt", "run", own, "--audit", "--runs-dir", runs, "--concurrent-attempts", "5", folder=folder)
    ids = os.listdir(runs) if os.path.isdir(runs) else []
    if len(ids) != 1:
        raise RuntimeError(f"mcp-groundtruth gave no report: {(done.stderr or done.stdout).strip()[-600:]}")
    with open(os.path.join(runs, ids[0], "report.json")) as file:
        said = json.load(file)
    verdicts = [verdict for tool in said["tools"] for verdict in tool["verdicts"]]
    count = lambda outcome: sum(verdict["outcome"] == outcome for verdict in verdicts)
    wrong = [verdict for verdict in verdicts if verdict["outcome"] in ("VIOLATION", "INCONCLUSIVE")]
    # A call that failed has shown nothing: the arguments are to do what the tool is for.
    failed = [verdict for verdict in verdicts if "CALL_ERROR" in verdict["secondary_reasons"] and verdict["test"] == "read_only"]
    found = [f"{verdict['outcome']} ({verdict['reason']}): {verdict['tool']}, {verdict['test']}" for verdict in wrong]
    found += [f"the call failed: {verdict['tool']}" for verdict in failed]
    found += [f"not tested: {tool}" for tool in said["untested_tools"]]
    yield Row("mcp-groundtruth", f"{count('PASS')} hints hold, {len(wrong)} not", "no hint that behaviour contradicts", not found, found)


def agent_friend(shop, folder):
    tools = shop.tools()
    as_words = lambda tools: [{**tool, "name": tool["name"].replace("-", "_")} for tool in tools]
    for judge, name, list_of_tools, is_bar in (
        ("agent-friend", "tools", tools, False),
        ("agent-friend, hyphens aside", "tools-without-hyphens", as_words(tools), True),
    ):
        path = os.path.join(folder, f"{name}.json")
        with open(path, "w") as file:
            json.dump(list_of_tools, file)
        said = report(ask(shop, f"agent-friend-{name}", "agent-friend", "grade", "--json", path), judge)
        found = []
        if is_bar:
            issues = ask(shop, f"agent-friend-{name}-issues", "agent-friend", "validate", path).stdout
            tool = ""
            for line in issues.splitlines():
                if heading := re.match(r"  (\w+):$", line):
                    tool = heading[1]
                if issue := re.match(r"\s+(?:WARN|ERROR): (.*)", line):
                    found.append(f"{tool}: {issue[1]}")
        else:
            hyphens = sum("-" in tool["name"] for tool in tools)
            found = [f"{2 * hyphens} of its {said['correctness']['warnings']} warnings are about the hyphens of {hyphens} names, 10 points of 100 each"]
        bar = f"≥ {AGENT_FRIEND_LEAST}" if is_bar else "none, see below"
        score = f"{said['overall_score']} ({said['correctness']['score']}, {said['efficiency']['score']}, {said['quality']['score']})"
        yield Row(judge, score, bar, not is_bar or said["overall_score"] >= AGENT_FRIEND_LEAST, found)


JUDGES = {
    "mcpscore": mcpscore,
    "mcp-quality": mcp_quality,
    "mcp-gauntlet": mcp_gauntlet,
    "mcp-scanner": mcp_scanner,
    "mcp-groundtruth": mcpgt,
    "agent-friend": agent_friend,
}


def main():
    parser = argparse.ArgumentParser(description="Lets judges of others grade the sample shop.")
    parser.add_argument("judge", nargs="*", help=f"one or more of {', '.join(JUDGES)}; all without it")
    parser.add_argument("--millrace", default=os.path.join(ROOT, "target/release/millrace"), help="the command that serves the shop")
    options = parser.parse_args()
    if unknown := set(options.judge) - set(JUDGES):
        parser.error(f"there is no judge `{unknown.pop()}`; the judges are {', '.join(JUDGES)}")
    shutil.rmtree(REPORTS, ignore_errors=True)
    os.makedirs(REPORTS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(os.path.abspath(options.millrace), folder)
        try:
            for name in options.judge or JUDGES:
                print(f"judges: {name} …", file=sys.stderr, flush=True)
                try:
                    rows += JUDGES[name](shop, folder)
                except (RuntimeError, OSError, KeyError, subprocess.TimeoutExpired) as problem:
                    rows.append(Row(name, "no report", "", False, [f"{type(problem).__name__}: {problem}"]))
        finally:
            shop.end()
    widths = [max(map(len, column)) for column in zip(("judge", "score", "bar"), *((row.judge, row.score, row.bar) for row in rows))]
    for row in [Row("judge", "score", "bar", None), *rows]:
        held = {None: "", True: "holds", False: "MISSED"}[row.holds]
        print("  ".join(cell.ljust(width) for cell, width in zip((row.judge, row.score, row.bar), widths)) + f"  {held}".rstrip())
        for line in row.found:
            print(textwrap.fill(line, 138, initial_indent="    - ", subsequent_indent="      "))
    print(f"Whole reports: {os.path.relpath(REPORTS)}")
    missed = [row.judge for row in rows if not row.holds]
    if missed:
        sys.exit(f"judges: a bar is missed: {'; '.join(missed)}")


main()
