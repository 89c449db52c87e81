"""Our own rules for workflows: python rules.py FILE…

Every step is an action of a known commit, with its version beside it, or a script of this repository, which runs on any machine. Every job has its
permissions and a time limit.
"""

import os, pathlib, re, sys, yaml

wrong = []
for name in sys.argv[1:]:
    file = pathlib.Path(name)
    text = file.read_text()
    workflow = yaml.safe_load(text)
    say = lambda what: wrong.append(f"{file.name}: {what}")
    if workflow.get("permissions") != {}:
        say("`permissions` of the workflow are not empty: each job has its own")
    if "concurrency" not in workflow:
        say("it has no `concurrency`")
    for job, content in workflow["jobs"].items():
        if "permissions" not in content:
            say(f"job {job} has no permissions")
        if "uses" in content:
            continue
        if "timeout-minutes" not in content:
            say(f"job {job} has no time limit")
        for step in content["steps"]:
            run, uses = step.get("run"), step.get("uses")
            if run:
                script = run.split()[0]
                if "\n" in run.strip() or not re.fullmatch(r"scripts/[a-z-]+( [A-Za-z0-9/.-]+)*", run.strip()):
                    say(f"job {job}: `{run}` is not a script of this repository")
                elif not os.access(file.parents[2] / script, os.X_OK):
                    say(f"job {job}: `{script}` does not exist, or cannot be run")
            elif not re.search(re.escape(uses) + r" # v\d+\.\d+\.\d+$", text, re.M) or not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", uses):
                say(f"job {job}: `{uses}` is not pinned to a commit with its version beside it")
            elif uses.startswith("actions/checkout@") and step.get("with", {}).get("persist-credentials") is not False:
                say(f"job {job}: the checkout leaves its token behind")
sys.exit("\n".join(wrong) or 0)
