//! Where a table is, and who asks: from the variables that the tools of AWS read, and that Lambda sets.

use millrace_core::{Error, ErrorKind, Result, ports::Env, secret::Secret};
use url::Url;

/// A table and the credentials for it. Prints no secret.
#[derive(Clone, Debug)]
pub struct DynamoDbSettings {
    pub(super) table: String,
    pub(super) region: String,
    /// Ends with `/`.
    pub(super) endpoint: String,
    pub(super) access_key_id: Secret<String>,
    pub(super) secret_access_key: Secret<String>,
    pub(super) session_token: Option<Secret<String>>,
}

impl DynamoDbSettings {
    /// Reads `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, and for another
    /// server with the same protocol `AWS_ENDPOINT_URL_DYNAMODB` or `AWS_ENDPOINT_URL`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong, or `table` is no name of a table.
    pub fn of(table: &str, env: &dyn Env) -> Result<Self> {
        let is_name = table.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if !(3..=255).contains(&table.len()) || !is_name {
            let message = "a DynamoDB table's name has 3 to 255 letters, digits, `_`, `-` and `.`";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        let set = |name: &str| env.var(name).filter(|value| !value.expose().trim().is_empty());
        let needed = |name: &str| set(name).ok_or_else(|| missing(name));
        let region = set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION")).ok_or_else(|| missing("AWS_REGION"))?;
        let region = region.expose().trim().to_owned();
        if !region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(Error::new(
                ErrorKind::Configuration,
                "the variable `AWS_REGION` is not a region; write one such as `eu-central-1`",
            ));
        }
        let endpoint = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"].into_iter().find_map(|name| Some((name, set(name)?)));
        let endpoint = match endpoint {
            Some((name, url)) => endpoint_of(name, url.expose())?,
            None if region.starts_with("cn-") => format!("https://dynamodb.{region}.amazonaws.com.cn/"),
            None => format!("https://dynamodb.{region}.amazonaws.com/"),
        };
        Ok(Self {
            table: table.to_owned(),
            region,
            endpoint,
            access_key_id: needed("AWS_ACCESS_KEY_ID")?,
            secret_access_key: needed("AWS_SECRET_ACCESS_KEY")?,
            session_token: set("AWS_SESSION_TOKEN"),
        })
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("a cache in DynamoDB needs the variable `{name}`, which is not set"))
}

/// Scheme, host and port of a URL. The port is left out where it is the scheme's own, as the HTTP client leaves it out of `host`, which is
/// signed.
fn endpoint_of(name: &str, text: &str) -> Result<String> {
    let url = Url::parse(text.trim()).ok().filter(|url| {
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let anonymous = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && bare && anonymous
    });
    let wrong = || format!("the variable `{name}` is not the address of a server; write one such as `http://localhost:8000`");
    url.map(String::from).ok_or_else(|| Error::new(ErrorKind::Configuration, wrong()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Variables(Vec<(&'static str, &'static str)>);

    impl Env for Variables {
        fn var(&self, name: &str) -> Option<Secret<String>> {
            self.0.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| Secret::new((*value).to_owned()))
        }
    }

    const GOOD: [(&str, &str); 3] =
        [("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")];

    fn with(table: &str, more: &[(&'static str, &'static str)]) -> Result<DynamoDbSettings> {
        DynamoDbSettings::of(table, &Variables(GOOD.into_iter().chain(more.iter().copied()).collect()))
    }

    #[test]
    fn the_endpoint_follows_from_the_region_unless_it_is_given() {
        let cases = [
            (&[][..], "https://dynamodb.eu-central-1.amazonaws.com/"),
            (&[("AWS_REGION", "cn-north-1")], "https://dynamodb.cn-north-1.amazonaws.com.cn/"),
            (&[("AWS_ENDPOINT_URL", "http://localhost:8000")], "http://localhost:8000/"),
            (&[("AWS_ENDPOINT_URL", "https://localhost:443/")], "https://localhost/"),
            (&[("AWS_ENDPOINT_URL", "http://a"), ("AWS_ENDPOINT_URL_DYNAMODB", "http://[::1]:1")], "http://[::1]:1/"),
            (&[("AWS_ENDPOINT_URL", "")], "https://dynamodb.eu-central-1.amazonaws.com/"),
        ];
        for (more, endpoint) in cases {
            assert_eq!(with("table", more).unwrap().endpoint, endpoint, "{more:?}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_and_nothing_secret_is_shown() {
        let cases = [
            ("ab", &[][..], "a DynamoDB table's name has 3 to 255 letters"),
            ("a table", &[], "a DynamoDB table's name has 3 to 255 letters"),
            ("table", &[("AWS_REGION", "")], "needs the variable `AWS_REGION`"),
            ("table", &[("AWS_REGION", "a.example/x?")], "`AWS_REGION` is not a region"),
            ("table", &[("AWS_ACCESS_KEY_ID", " ")], "needs the variable `AWS_ACCESS_KEY_ID`"),
            ("table", &[("AWS_SECRET_ACCESS_KEY", "")], "needs the variable `AWS_SECRET_ACCESS_KEY`"),
            ("table", &[("AWS_ENDPOINT_URL", "localhost:8000")], "`AWS_ENDPOINT_URL` is not the address"),
            ("table", &[("AWS_ENDPOINT_URL", "http://me:hunter2@a")], "`AWS_ENDPOINT_URL` is not the address"),
            ("table", &[("AWS_ENDPOINT_URL_DYNAMODB", "http://a/b")], "`AWS_ENDPOINT_URL_DYNAMODB` is not the address"),
        ];
        for (table, more, expected) in cases {
            let message = with(table, more).unwrap_err().message;
            assert!(message.contains(expected) && !message.contains("hunter2"), "{message}");
        }
        let settings = with("table", &[("AWS_SESSION_TOKEN", "hunter2")]).unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
        assert_eq!(with("table", &[("AWS_REGION", ""), ("AWS_DEFAULT_REGION", "us-east-1")]).unwrap().region, "us-east-1");
    }
}
