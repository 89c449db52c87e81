#!/usr/bin/env python3
"""What CloudFormation gets of a template: SAM's own translator is run on it once with each value of each parameter, the others at their defaults.

`translate.py TEMPLATE` prints one JSON array: for each run `{"parameters": {...}, "resources": {...}}`, the parameters that were set and the resources
whose conditions hold, with references to parameters and `Fn::If` replaced by what they are. No account is needed and nothing is asked.
"""

import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

NOTHING = {"Ref": "AWS::NoValue"}


def condition(value, parameters, conditions):
    """Whether a condition holds."""
    if isinstance(value, str):
        return condition(conditions[value], parameters, conditions)
    (kind, arguments), = value.items()
    if kind == "Condition":
        return condition(arguments, parameters, conditions)
    if kind == "Fn::Equals":
        left, right = (resolved(argument, parameters, conditions) for argument in arguments)
        return str(left) == str(right)
    if kind == "Fn::Not":
        return not condition(arguments[0], parameters, conditions)
    if kind in ("Fn::And", "Fn::Or"):
        return (all if kind == "Fn::And" else any)(condition(argument, parameters, conditions) for argument in arguments)
    raise ValueError(f"a condition that nobody reads: {value}")


def resolved(value, parameters, conditions):
    """A value without references to parameters and without choices."""
    if isinstance(value, list):
        return [item for item in (resolved(item, parameters, conditions) for item in value) if item != NOTHING]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (kind, argument), = value.items()
        if kind == "Ref" and argument in parameters:
            return parameters[argument]
        if kind == "Fn::If":
            name, then, otherwise = argument
            return resolved(then if condition(name, parameters, conditions) else otherwise, parameters, conditions)
    members = {key: resolved(member, parameters, conditions) for key, member in value.items()}
    return {key: member for key, member in members.items() if member != NOTHING}


def translated(text, chosen):
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # Where `sam deploy` has uploaded the folder to.
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    parameters = {name: parameter["Default"] for name, parameter in template["Parameters"].items()} | chosen
    output = Translator({}, Parser()).translate(template, dict(parameters))
    conditions = output.get("Conditions", {})
    resources = {
        name: resolved(resource, parameters, conditions)
        for name, resource in output["Resources"].items()
        if "Condition" not in resource or condition(resource["Condition"], parameters, conditions)
    }
    return {"parameters": chosen, "resources": resources}


def main():
    with open(sys.argv[1]) as file:
        text = file.read()
    parameters = yaml_parse(text)["Parameters"]
    runs = [{}]
    for name, parameter in parameters.items():
        for value in parameter.get("AllowedValues") or [parameter.get("MinValue"), parameter.get("MaxValue")]:
            if value is not None:
                runs.append({name: value})
    print(json.dumps([translated(text, chosen) for chosen in runs]))


main()
