//! A service of AWS in a region.

use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings};
use millrace_core::{
    Error, ErrorKind, Json, Result,
    headers::Headers,
    ports::{Env, HttpRequest},
};
use url::Url;

use crate::identity::{AwsCredentials, AwsIdentity, set};

/// A service, and the credentials for it. Prints no secret.
#[derive(Clone, Debug)]
pub struct AwsService {
    /// Its name in signatures and addresses: `dynamodb`.
    name: &'static str,
    /// Ends with `/`.
    endpoint: String,
    identity: AwsIdentity,
}

/// What a request asks a service to do.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// What stands behind the endpoint, without a `/` at its start: `Execute`. Nothing for a
    /// service with `x-amz-target`.
    pub path: &'a str,
    /// `x-amz-target`: `DynamoDB_20120810.GetItem`.
    pub target: Option<&'a str>,
    /// `content-type`: `application/x-amz-json-1.0`.
    pub content_type: &'a str,
    /// The parameters.
    pub body: &'a Json,
    /// When to give up, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// The longest answer to read, in bytes.
    pub max_response_bytes: usize,
}

impl AwsService {
    /// Reads `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, and for another server with the same protocol `AWS_ENDPOINT_URL_` and
    /// the service's name (`endpoint_variable`), or `AWS_ENDPOINT_URL`.
    ///
    /// `user` is what needs the service, for messages: `a cache in DynamoDB`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong.
    pub fn of(name: &'static str, endpoint_variable: &'static str, user: &str, env: &dyn Env) -> Result<Self> {
        let identity = AwsIdentity::of(user, env)?;
        let region = &identity.region;
        let endpoint = [endpoint_variable, "AWS_ENDPOINT_URL"].into_iter().find_map(|name| Some((name, set(env, name)?)));
        let endpoint = match endpoint {
            Some((name, url)) => endpoint_of(url.expose()).ok_or_else(|| {
                let message = format!("the variable `{name}` is not the address of a server; write one such as `http://localhost:8000`");
                Error::new(ErrorKind::Configuration, message)
            })?,
            None => own_endpoint(name, region),
        };
        Ok(Self { name, endpoint, identity })
    }

    /// A service in a [region](crate::is_region), or another server with the same protocol:
    /// `http://localhost:8000`. `None` where that is not the address of a server.
    #[must_use]
    pub fn at(name: &'static str, region: String, endpoint: Option<&str>, credentials: AwsCredentials) -> Option<Self> {
        let endpoint = endpoint.map_or_else(|| Some(own_endpoint(name, &region)), endpoint_of)?;
        Some(Self { name, endpoint, identity: AwsIdentity { region, credentials } })
    }

    /// The region.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.identity.region
    }

    /// A signed request.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): the credentials cannot stand in a header.
    pub fn request(&self, operation: Operation<'_>, now_ms: u64) -> Result<HttpRequest> {
        let body = operation.body.to_string().into_bytes();
        let target = operation.target.map(|target| ("x-amz-target", target));
        let fields = [("content-type", operation.content_type)].into_iter().chain(target);
        let url = format!("{}{}", self.endpoint, operation.path);
        let unsigned = SignableRequest::new("POST", &url, fields.clone(), SignableBody::Bytes(&body));
        let signed = unsigned.ok().and_then(|request| self.identity.sign(self.name, request, SigningSettings::default(), now_ms));
        let Some(signed) = signed else {
            let message = format!("a request to the service `{}` of AWS cannot be signed with these credentials", self.name);
            return Err(Error::new(ErrorKind::Configuration, message));
        };
        let mut headers: Headers = fields.collect();
        for (name, value) in signed.headers() {
            headers.append(name, value);
        }
        Ok(HttpRequest {
            method: "POST".to_owned(),
            url,
            headers,
            body,
            deadline_ms: operation.deadline_ms,
            max_response_bytes: operation.max_response_bytes,
            ..HttpRequest::default()
        })
    }
}

/// The type of an error, which stands in `__type` after a `#`:
/// `com.amazonaws.dynamodb.v20120810#ResourceNotFoundException`. Nothing where the body is not an
/// error.
#[must_use]
pub fn kind_of_error(body: &[u8]) -> String {
    let body: Json = serde_json::from_slice(body).unwrap_or_default();
    let kind = body.get("__type").and_then(Json::as_str).unwrap_or_default();
    kind.rsplit('#').next().unwrap_or_default().to_owned()
}

/// Where a service is.
fn own_endpoint(name: &str, region: &str) -> String {
    let china = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://{name}.{region}.amazonaws.com{china}/")
}

/// Scheme, host and port of a URL. The port is left out where it is the scheme's own, as the HTTP
/// client leaves it out of `host`, which is signed.
fn endpoint_of(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok().filter(|url| {
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let anonymous = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && bare && anonymous
    });
    url.map(String::from)
}

#[cfg(test)]
mod tests {
    use millrace_core::secret::Secret;

    use super::*;

    struct Variables(Vec<(&'static str, &'static str)>);

    impl Env for Variables {
        fn var(&self, name: &str) -> Option<Secret<String>> {
            self.0.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| Secret::new((*value).to_owned()))
        }
    }

    const GOOD: [(&str, &str); 3] =
        [("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")];

    fn with(more: &[(&'static str, &'static str)]) -> Result<AwsService> {
        let variables = Variables(GOOD.into_iter().chain(more.iter().copied()).collect());
        AwsService::of("dynamodb", "AWS_ENDPOINT_URL_DYNAMODB", "a cache in DynamoDB", &variables)
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
            assert_eq!(with(more).unwrap().endpoint, endpoint, "{more:?}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_and_nothing_secret_is_shown() {
        let cases = [
            (&[("AWS_REGION", "")][..], "a cache in DynamoDB needs the variable `AWS_REGION`"),
            (&[("AWS_REGION", "a.example/x?")], "`AWS_REGION` is not a region"),
            (&[("AWS_ACCESS_KEY_ID", " ")], "needs the variable `AWS_ACCESS_KEY_ID`"),
            (&[("AWS_SECRET_ACCESS_KEY", "")], "needs the variable `AWS_SECRET_ACCESS_KEY`"),
            (&[("AWS_ENDPOINT_URL", "localhost:8000")], "`AWS_ENDPOINT_URL` is not the address"),
            (&[("AWS_ENDPOINT_URL", "http://me:hunter2@a")], "`AWS_ENDPOINT_URL` is not the address"),
            (&[("AWS_ENDPOINT_URL_DYNAMODB", "http://a/b")], "`AWS_ENDPOINT_URL_DYNAMODB` is not the address"),
        ];
        for (more, expected) in cases {
            let message = with(more).unwrap_err().into_parts().message;
            assert!(message.contains(expected) && !message.contains("hunter2"), "{message}");
        }
        let service = with(&[("AWS_SESSION_TOKEN", "hunter2")]).unwrap();
        assert!(!format!("{service:?}").contains("hunter2"));
        assert_eq!(with(&[("AWS_REGION", ""), ("AWS_DEFAULT_REGION", "us-east-1")]).unwrap().region(), "us-east-1");
    }
}
