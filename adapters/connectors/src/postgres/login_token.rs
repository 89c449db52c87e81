//! A token of AWS IAM as the password, as RDS and Aurora take it: made by the host for each login,
//! valid for 15 minutes.
//!
//! <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html>

use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind, Result,
    ports::Verify,
    redaction::{Reader, Secrets, Words, strike},
    secret::Secret,
    url::percent_decoded,
};

use super::address::PostgresAddress;
use crate::shared::{Encryption, StatementFailure};

/// The shortest parameter of a token that could be a secret, in bytes: a signature has as many.
const SHORTEST_SECRET: usize = 64;

/// Refuses settings with `aws_iam` that no token fits, or that would tell one to others.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration).
pub(super) fn check(address: &PostgresAddress, adapter: &str, has_tokens: bool) -> Result<()> {
    if !address.aws_iam {
        return Ok(());
    }
    let why = if !has_tokens {
        "this host makes no tokens of AWS IAM, as only this machine and Lambda do; remove `aws_iam`, and log in with a password or through a \
         Hyperdrive"
    } else if address.password.is_some() {
        "a token of AWS IAM is the password, and there is another one; remove `password`, or `aws_iam`"
    } else if address.demands_proof {
        "a token of AWS IAM proves nothing of the server, which `channel_binding=require` demands; remove `channel_binding`"
    } else if address.encryption != Encryption::Required(Verify::Full) {
        "a token of AWS IAM is sent only to a server whose certificate and name are verified; set `sslmode=verify-full`, and `sslrootcert` \
         or `ca_certificate` to the certificates of RDS"
    } else if address.host.parse::<IpAddr>().is_ok() {
        "a token of AWS IAM is for the name of an endpoint of RDS, and the connection string has an IP address; write the endpoint's name"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Configuration, format!("the adapter `{adapter}` has `aws_iam: true`: {why}")))
}

/// What a server says that refuses a token, with what it may be.
pub(super) fn explained(mut failure: StatementFailure) -> StatementFailure {
    if matches!(failure.error.kind, ErrorKind::Denied | ErrorKind::Credentials) {
        failure.error.message +=
            "; with `aws_iam`, this user needs the role `rds_iam`, and the `AWS_…` variables the right `rds-db:connect` for it";
    }
    failure
}

/// A server that asks for something else than a token.
pub(super) fn not_taken(address: &PostgresAddress) -> StatementFailure {
    let message = "PostgreSQL takes no token of AWS IAM from the user of the adapter; switch IAM authentication on, and run `GRANT rds_iam TO` the user";
    StatementFailure::last(Error::new(ErrorKind::Denied, message).at(&address.place()))
}

/// Strikes a token out of what the server said: as a whole, and the signature and the session token
/// in it.
pub(super) fn without(mut failure: StatementFailure, token: &Secret<String>) -> StatementFailure {
    if let Some(source) = &mut failure.error.source {
        let whole = token.expose().as_str();
        let values = whole.split(['?', '&']).filter_map(|parameter| percent_decoded(parameter.split_once('=')?.1));
        let values: Vec<_> = values.filter(|value| value.len() >= SHORTEST_SECRET).collect();
        let secrets = Secrets::plain(values.iter().map(|value| &**value).chain([whole]));
        *source = strike(source, Words::Foreign(&[]), &[&secrets], Reader::Caller).into_owned();
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, options: &[(&str, &str)], has_tokens: bool) -> String {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        let address = PostgresAddress::parse(text, &options).unwrap();
        check(&address, "main", has_tokens).err().map(|error| error.into_parts().message).unwrap_or_default()
    }

    #[test]
    fn a_token_goes_only_to_a_server_that_is_verified() {
        let on = ("aws_iam", "true");
        for (text, options) in [
            ("postgres://me@db.example/x", &[on][..]),
            ("postgres://me@db.example/x?aws_iam=true&sslrootcert=rds.pem", &[]),
            ("postgres://me@localhost/x", &[on, ("sslmode", "verify-full")]),
            ("postgres://me@db.example/x", &[on, ("password", "")]),
            ("postgres://me:pw@db.example/x?sslmode=disable", &[("aws_iam", "False")]),
        ] {
            assert_eq!(told(text, options, true), "", "{text}");
        }
        let mut wrong = vec![
            ("postgres://me:hunter2@db.example/x".to_owned(), "there is another one; remove `password`"),
            ("postgres://me@db.example/x?channel_binding=require".to_owned(), "remove `channel_binding`"),
            ("postgres://me@10.0.0.1/x".to_owned(), "write the endpoint's name"),
            // On this machine there is no TLS where nothing says so.
            ("postgres://me@localhost/x".to_owned(), "set `sslmode=verify-full`"),
            ("postgres://me@db.example/x?sslmode=require&sslrootcert=rds.pem".to_owned(), "set `sslmode=verify-full`"),
        ];
        for mode in ["disable", "prefer", "require", "verify-ca"] {
            wrong.push((format!("postgres://me@db.example/x?sslmode={mode}"), "set `sslmode=verify-full`"));
        }
        for (text, expected) in wrong {
            let message = told(&text, &[on], true);
            assert!(message.starts_with("the adapter `main` has `aws_iam: true`: ") && message.contains(expected), "{text}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
        for text in ["postgres://me@db.example/x", "host=DB.hyperdrive sslmode=disable user=me password=pw"] {
            assert!(told(text, &[on], false).contains("this host makes no tokens of AWS IAM"), "{text}");
        }
        assert_eq!(told("postgres://me@localhost/x", &[], false), "");
        let options = [("aws_iam".to_owned(), Secret::new("yes".to_owned()))];
        let error = PostgresAddress::parse("postgres://me@db/x", &options).unwrap_err();
        assert_eq!(error.message, "`aws_iam` of connector `postgres` must be `true` or `false`");
    }

    #[test]
    fn a_server_that_repeats_a_token_is_not_repeated() {
        let signature = "0123456789abcdef".repeat(4);
        let session = "IQoJb3JpZ2luX2VjEHM%2F".repeat(9);
        let token = format!("db.example:5432/?Action=connect&DBUser=me&X-Amz-Security-Token={session}&X-Amz-Signature={signature}");
        for said in [token.clone(), signature.clone(), session.clone(), session.replace("%2F", "/"), signature.to_uppercase()] {
            let error = Error::new(ErrorKind::Denied, "no").with_source(format!("28000: PAM refuses `me` at db.example:5432 ({said})"));
            let error = without(StatementFailure::last(error), &Secret::new(token.clone())).error;
            assert_eq!(error.source.as_deref(), Some("28000: PAM refuses `me` at db.example:5432 ([secret])"), "{said}");
        }
    }
}
