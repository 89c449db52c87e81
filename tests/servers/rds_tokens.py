"""Tokens that botocore makes for logins at databases of RDS.

    rds_tokens.py < CASES > TOKENS

Both are lists as JSON. A case has host, port, user, region, id, secret, session (or null), and the time in seconds since the Unix epoch.
"""

import datetime
import json
import sys
from unittest import mock

import boto3


def token(case):
    now = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc)
    session = boto3.session.Session(
        aws_access_key_id=case["id"],
        aws_secret_access_key=case["secret"],
        aws_session_token=case["session"],
        region_name=case["region"],
    )
    with mock.patch("botocore.auth.get_current_datetime", lambda *args, **kwargs: now):
        return session.client("rds").generate_db_auth_token(case["host"], case["port"], case["user"])


json.dump([token(case) for case in json.load(sys.stdin)], sys.stdout)
