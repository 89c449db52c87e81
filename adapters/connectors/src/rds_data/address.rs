//! Which cluster, from a connection string.

use millrace_core::{Error, ErrorKind, Result};

/// A cluster, as its ARN names it.
#[derive(Debug, PartialEq)]
pub(super) struct Cluster {
    /// `arn:aws:rds:eu-central-1:123456789012:cluster:shop`
    pub(super) arn: String,
    /// `eu-central-1`
    pub(super) region: String,
    /// `shop`, for messages.
    pub(super) name: String,
}

impl Cluster {
    /// Reads the [ARN](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html) of a
    /// cluster.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the text: it may be a
    /// connection string with a password.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            let message = format!(
                "the connection string of connector `rds-data` {what}; use the ARN of a cluster of Aurora PostgreSQL, \
                 `arn:aws:rds:REGION:ACCOUNT:cluster:NAME`"
            );
            Error::new(ErrorKind::Configuration, message)
        };
        if text.contains("://") {
            return Err(wrong("is a URL: the Data API knows a cluster by its ARN"));
        }
        let parts: Vec<&str> = text.split(':').collect();
        let [arn, partition, service, region, account, rest @ ..] = parts.as_slice() else { return Err(wrong("is not an ARN")) };
        if *arn != "arn" || !partition.starts_with("aws") {
            return Err(wrong("is not an ARN"));
        }
        if *service != "rds" {
            return Err(wrong("is the ARN of something else than a cluster of RDS"));
        }
        let name = match rest {
            ["cluster", name] => *name,
            ["db", _] => return Err(wrong("is the ARN of an instance, and the Data API is the cluster's")),
            _ => return Err(wrong("is the ARN of something else than a cluster of RDS")),
        };
        if region.is_empty() {
            return Err(wrong("names no region"));
        }
        if account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong("names no account, which has 12 digits"));
        }
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(wrong("names no cluster"));
        }
        Ok(Self { arn: text.to_owned(), region: (*region).to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_its_arn() {
        for (text, region, name) in [
            ("arn:aws:rds:eu-central-1:123456789012:cluster:shop", "eu-central-1", "shop"),
            ("arn:aws-cn:rds:cn-north-1:123456789012:cluster:a-1", "cn-north-1", "a-1"),
        ] {
            let expected = Cluster { arn: text.to_owned(), region: region.to_owned(), name: name.to_owned() };
            assert_eq!(Cluster::parse(text), Ok(expected));
        }
        for (text, expected) in [
            ("", "is not an ARN"),
            ("shop", "is not an ARN"),
            ("postgres://me:hunter2@shop.cluster-x.eu-central-1.rds.amazonaws.com/shop", "is a URL"),
            ("urn:aws:rds:eu-central-1:123456789012:cluster:hunter2", "is not an ARN"),
            ("arn:aws:rds:eu-central-1", "is not an ARN"),
            ("arn:aws:secretsmanager:eu-central-1:123456789012:secret:hunter2", "something else than a cluster"),
            ("arn:aws:rds:eu-central-1:123456789012:db:hunter2", "is the ARN of an instance"),
            ("arn:aws:rds:eu-central-1:123456789012:cluster-pg:hunter2", "something else than a cluster"),
            ("arn:aws:rds::123456789012:cluster:hunter2", "names no region"),
            ("arn:aws:rds:eu-central-1:1234:cluster:hunter2", "names no account"),
            ("arn:aws:rds:eu-central-1:123456789012:cluster:", "names no cluster"),
            ("arn:aws:rds:eu-central-1:123456789012:cluster:hunter2/x", "names no cluster"),
        ] {
            let message = Cluster::parse(text).unwrap_err().into_parts().message;
            assert!(message.contains(expected) && !message.contains("hunter2"), "{text}: {message}");
        }
    }
}
