"""Values against their schemas: each line of the input is `{"place", "schema", "value"}`; the places of those that do not fit are printed."""

import json
import sys

from jsonschema import Draft202012Validator

for line in sys.stdin:
    pair = json.loads(line)
    Draft202012Validator.check_schema(pair["schema"])
    error = next(Draft202012Validator(pair["schema"]).iter_errors(pair["value"]), None)
    if error is not None:
        print(f"{pair['place']}: {error.json_path}: {error.message}")
