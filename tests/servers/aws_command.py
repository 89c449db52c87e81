"""Runs `aws SERVICE OPERATION --name value …` by botocore, AWS's own client, which the AWS command line is made of.

Names of options are those of botocore's model of the service, so one that does not exist is an error. Values are texts, or pairs, `Name=text,Other=text`.
"""

import os
import sys

import botocore.session
from botocore import xform_name

service, operation, *rest = sys.argv[1:]
client = botocore.session.get_session().create_client(service, region_name=os.environ["AWS_REGION"])
names = {xform_name(name, "-"): name for name in client.meta.service_model.operation_names}
model = client.meta.service_model.operation_model(names[operation])
members = {xform_name(name, "-"): (name, shape) for name, shape in model.input_shape.members.items()}


def pairs(shape, text):
    found = dict(pair.split("=", 1) for pair in text.split(","))
    return {name: value == "true" if shape.members[name].type_name == "boolean" else value for name, value in found.items()}


values = {}
for option, text in zip(rest[::2], rest[1::2], strict=True):
    name, shape = members[option.removeprefix("--")]
    if shape.type_name == "list":
        values[name] = [pairs(shape.member, text)]
    elif shape.type_name == "structure":
        values[name] = pairs(shape, text)
    else:
        values[name] = text
getattr(client, xform_name(names[operation]))(**values)
