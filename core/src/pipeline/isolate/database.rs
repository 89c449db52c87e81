//! Which of an adapter's `databases` a call is for: what the caller's principal says, as long as
//! the adapter lists it.

use alloc::{borrow::Cow, format, vec::Vec};

use crate::pipeline::{call::run::Run, call::scope::walk};
use crate::{
    Error, ErrorKind, Json, Result,
    app::{Adapter, Databases},
};

/// The database of a call; `None` where the adapter has only one.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) where the caller's principal names none of the adapter's
/// databases. The value is not in the message.
pub(in crate::pipeline) fn of<'a>(run: &Run<'_>, adapter: &'a Adapter) -> Result<Option<&'a str>> {
    adapter.databases.as_ref().map(|databases| choose(run.auth.as_ref(), adapter, databases)).transpose()
}

fn choose<'a>(auth: Option<&Json>, adapter: &Adapter, databases: &'a Databases) -> Result<&'a str> {
    let claimed = match auth.and_then(|auth| walk(auth, &databases.choice.path)) {
        Some(Json::String(text)) => Ok(Cow::Borrowed(text.as_str())),
        Some(Json::Number(number)) if number.is_i64() || number.is_u64() => Ok(Cow::Owned(format!("{number}"))),
        None | Some(Json::Null) => Err("the caller has no such value"),
        Some(_) => Err("the caller's value is neither a text nor a whole number"),
    };
    let found = claimed.and_then(|claimed| {
        let found = databases.names.binary_search_by(|name| name.as_str().cmp(&claimed)).ok();
        found.and_then(|found| databases.names.get(found)).ok_or("the caller's value is not among them")
    });
    found.map(|name| name.as_str()).map_err(|why| {
        let message = format!("the adapter `{}` has a database for each of its `{}`, and {why}", adapter.name, databases.choice);
        Error::new(ErrorKind::Denied, message)
    })
}

/// Every database of an adapter; one `None` where it has only one.
pub(in crate::pipeline) fn all(adapter: &Adapter) -> Vec<Option<&str>> {
    match &adapter.databases {
        None => [None].to_vec(),
        Some(databases) => databases.names.iter().map(|name| Some(name.as_str())).collect(),
    }
}

/// Says in an error which of an adapter's databases it is about.
pub(in crate::pipeline) fn named(error: Error, database: Option<&str>) -> Error {
    match database {
        None => error,
        Some(name) => {
            let message = format!("{} (in the database `{name}`)", error.message);
            error.with_message(message)
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned, string::String, vec};

    use serde_json::json;

    use super::*;
    use crate::app::{EnvTemplate, Root, Source};

    fn adapter() -> Adapter {
        let choice = Source { root: Root::Auth, path: vec!["claims".to_owned(), "org".to_owned()] };
        Adapter {
            name: "main".to_owned(),
            connector: "fake".to_owned(),
            connection_string: EnvTemplate(vec![]),
            options: vec![],
            timeout_ms: 1,
            max_rows: 1,
            read_only: false,
            seed: None,
            session: vec![],
            tenant: None,
            databases: Some(Databases { choice, names: ["12", "acme", "north"].map(String::from).to_vec() }),
        }
    }

    #[test]
    fn only_a_name_of_the_list_is_a_database() {
        let adapter = adapter();
        let chosen = |auth: &Json| choose(Some(auth), &adapter, adapter.databases.as_ref().unwrap());
        let claims = |org: Json| json!({ "subject": "u", "claims": { "org": org } });
        for (org, name) in [(json!("acme"), "acme"), (json!("north"), "north"), (json!("12"), "12"), (json!(12), "12")] {
            assert_eq!(chosen(&claims(org)).unwrap(), name);
        }
        let foreign = "the adapter `main` has a database for each of its `auth.claims.org`, and the caller's value is not among them";
        for org in ["", " ", "Acme", "acme ", "acme\0", "acm", "acmee", "../acme", "acme/../north", "acme?host=evil", "012", "12.0"] {
            let error = chosen(&claims(json!(org))).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Denied, foreign), "{org:?}");
        }
        for org in [json!(null), json!(true), json!(12.0), json!(["acme"]), json!({ "acme": 1 })] {
            assert_eq!(chosen(&claims(org)).unwrap_err().kind, ErrorKind::Denied);
        }
        for auth in [json!({}), json!({ "claims": "acme" }), json!({ "org": "acme" }), json!(null)] {
            assert_eq!(chosen(&auth).unwrap_err().kind, ErrorKind::Denied);
        }
        assert_eq!(choose(None, &adapter, adapter.databases.as_ref().unwrap()).unwrap_err().kind, ErrorKind::Denied);
    }
}
