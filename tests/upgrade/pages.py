"""Writes an app whose lists have two pages each: 1,001 tools, prompts, resources and templates.

    pages.py FOLDER
"""

import os
import sys

COUNT = 1001


def write(path, text):
    path = os.path.join(sys.argv[1], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


write("millrace.yaml", "name: pages\n")
write("app/adapters/main.yaml", "connector: sqlite\nconnection_string: ':memory:'\n")
for number in range(COUNT):
    name = f"n{number:04}"
    write(f"app/tools/{name}/config.yaml", f"description: Number {number}.\nuse: main\nstatement: SELECT {number} AS n\n")
    write(f"app/prompts/{name}.yaml", f"description: Number {number}.\nmessages: [{{ role: user, text: Say {number}. }}]\n")
    write(f"app/resources/{name}/config.yaml", f"uri: pages://{name}\ntext: The number {number}.\n")
    write(f"app/resources/t{name}/config.yaml", f'uri_template: "pages://{name}/{{id}}"\ntext_template: "{number} of {{{{ id }}}}"\n')
