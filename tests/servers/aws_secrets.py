"""AWS Secrets Manager and the Parameter Store as moto implements them, filled by boto3, signatures and rights checked.

    aws_secrets.py PORT CREDENTIALS_FILE

The file gets the key of a user who may read secrets, and one who may not, as JSON, once everything is there.
"""

import json
import logging
import os
import signal
import sys

PORT, FILE = int(sys.argv[1]), sys.argv[2]
# So many requests are let in unchecked: those that make users, rights and secrets here.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "11"

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)
ThreadedMotoServer(ip_address="127.0.0.1", port=PORT, verbose=False).start()
SETUP = {"aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
clients = {
    name: boto3.client(name, endpoint_url=f"http://127.0.0.1:{PORT}", region_name="eu-central-1", **SETUP)
    for name in ("iam", "secretsmanager", "ssm")
}


def user(name, actions):
    iam = clients["iam"]
    iam.create_user(UserName=name)
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}


keys = {
    # What the documentation says is needed, and nothing more.
    "reader": user("reader", ["secretsmanager:GetSecretValue", "ssm:GetParameter"]),
    "stranger": user("stranger", ["secretsmanager:ListSecrets", "ssm:DescribeParameters"]),
}
DATABASE = json.dumps({"username": "shop", "file": "shop.db", "port": 5432})
secrets, parameters = clients["secretsmanager"], clients["ssm"]
secrets.create_secret(Name="shop/prod/DB", SecretString=DATABASE)
secrets.create_secret(Name="shop/prod/KEY", SecretString="key-in-a-store")
secrets.create_secret(Name="shop/prod/BINARY", SecretBinary=b"\xff\x00")
parameters.put_parameter(Name="/shop/DB", Value=DATABASE, Type="SecureString")
parameters.put_parameter(Name="/shop/KEY", Value="key-in-a-store", Type="SecureString")
with open(FILE + ".new", "w") as file:
    json.dump(keys, file)
os.rename(FILE + ".new", FILE)
signal.pause()
