//! The hosts that DNS names for `mongodb+srv://`: records of type SRV and TXT, asked for [over
//! HTTPS](https://developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json/),
//! because a Worker has no other way.

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Json, Result,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest},
};

use super::address::{Host, MAX_HOSTS};

/// How long what DNS said holds, whatever it says: in seconds.
const LEAST_S: u64 = 60;
const MOST_S: u64 = 3_600;
const LONGEST_REPLY: usize = 64 << 10;
const TXT: u64 = 16;
const SRV: u64 = 33;

/// What DNS says of a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) hosts: Vec<Host>,
    pub(super) auth_source: Option<String>,
    pub(super) replica_set: Option<String>,
}

/// Asks, and keeps what it was told.
pub(super) struct Resolver {
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    known: RefCell<Option<(u64, Rc<Named>)>>,
}

impl Resolver {
    pub(super) fn new(http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>) -> Self {
        Self { http, clock, known: RefCell::new(None) }
    }

    /// The hosts of a name. `dns` is the URL of who is asked.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) where nobody answers,
    /// [`Configuration`](ErrorKind::Configuration) for a name without hosts, or with hosts of
    /// somebody else.
    pub(super) async fn resolve(&self, dns: &str, name: &str, until_ms: u64) -> Result<Rc<Named>> {
        if let Some((_, named)) = self.known.borrow().as_ref().filter(|(end_ms, _)| self.clock.now_ms() < *end_ms) {
            return Ok(Rc::clone(named));
        }
        let services = self.ask(dns, &format!("_mongodb._tcp.{name}"), SRV, until_ms).await?;
        let texts = self.ask(dns, name, TXT, until_ms).await?;
        let ttl_s = services.iter().map(|(_, ttl_s)| *ttl_s).min().unwrap_or(LEAST_S).clamp(LEAST_S, MOST_S);
        let named = Rc::new(named(name, &services, &texts)?);
        *self.known.borrow_mut() = Some((self.clock.now_ms().saturating_add(ttl_s * 1_000), Rc::clone(&named)));
        Ok(named)
    }

    async fn ask(&self, dns: &str, name: &str, kind: u64, until_ms: u64) -> Result<Vec<(String, u64)>> {
        let mut headers = Headers::new();
        headers.append("accept", "application/dns-json");
        let request = HttpRequest {
            method: "GET".to_owned(),
            url: format!("{dns}?name={name}&type={}", if kind == SRV { "SRV" } else { "TXT" }),
            headers,
            body: Vec::new(),
            deadline_ms: until_ms,
            max_response_bytes: LONGEST_REPLY,
            ..HttpRequest::default()
        };
        let silent = |why: String| Error::new(ErrorKind::Unavailable, "could not ask DNS for the hosts of MongoDB").with_source(why);
        let response = self.http.send(request).await.map_err(|error| silent(error.into_parts().message))?;
        if response.status != 200 {
            return Err(silent(format!("status {}", response.status)));
        }
        let reply: Json = serde_json::from_slice(&response.body).map_err(|error| silent(error.to_string()))?;
        match reply.get("Status").and_then(Json::as_u64) {
            Some(0) => {}
            Some(3) => return Ok(Vec::new()),
            status => return Err(silent(format!("DNS says {status:?}"))),
        }
        let answers = reply.get("Answer").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let of_kind = answers.iter().filter(|answer| answer.get("type").and_then(Json::as_u64) == Some(kind));
        let data = of_kind.filter_map(|answer| {
            Some((answer.get("data")?.as_str()?.to_owned(), answer.get("TTL").and_then(Json::as_u64).unwrap_or(LEAST_S)))
        });
        Ok(data.collect())
    }
}

fn named(name: &str, services: &[(String, u64)], texts: &[(String, u64)]) -> Result<Named> {
    let wrong =
        |why: &str| Err(Error::new(ErrorKind::Configuration, format!("for the connection string of connector `mongodb`, DNS {why}")));
    let mut named = Named::default();
    // `cluster.abc.example.net` may name hosts below `abc.example.net`, and nobody else's.
    let domain = name.split_once('.').map_or("", |(_, domain)| domain);
    for (data, _) in services.iter().take(MAX_HOSTS) {
        let mut words = data.split_ascii_whitespace().skip(2);
        let (port, host) = (words.next().and_then(|port| port.parse::<u16>().ok()), words.next());
        let (Some(port @ 1..), Some(host)) = (port, host) else { return wrong("has a record of a service without a host or a port") };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_below = host.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
        if !is_below || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)) {
            return wrong("names a host of another domain, which is refused");
        }
        named.hosts.push(Host { name: host, port });
    }
    if named.hosts.is_empty() {
        return wrong("names no hosts; look at the host's name");
    }
    if let [_, _, ..] = texts {
        return wrong("has several records of settings, and there may be one");
    }
    let text: String = texts.iter().flat_map(|(data, _)| data.split('"')).filter(|part| !part.trim().is_empty()).collect();
    for setting in text.split('&').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some((key, value)) if key.eq_ignore_ascii_case("authSource") => named.auth_source = Some(value.to_owned()),
            Some((key, value)) if key.eq_ignore_ascii_case("replicaSet") => named.replica_set = Some(value.to_owned()),
            Some((key, "false")) if key.eq_ignore_ascii_case("loadBalanced") => {}
            _ => return wrong("sets something else than `authSource` and `replicaSet`, which is refused"),
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(data: &[&str]) -> Vec<(String, u64)> {
        data.iter().map(|data| ((*data).to_owned(), 60)).collect()
    }

    #[test]
    fn hosts_are_of_the_same_domain() {
        let read = |services: &[&str], texts: &[&str]| named("c.abc.example.net", &records(services), &records(texts));
        let found =
            read(&["0 0 27017 A-0.abc.example.net.", "0 0 27018 a-1.abc.example.net"], &["\"authSource=admin&replicaSet=rs\""]).unwrap();
        assert_eq!(
            found.hosts.iter().map(|host| (host.name.as_str(), host.port)).collect::<Vec<_>>(),
            [("a-0.abc.example.net", 27017), ("a-1.abc.example.net", 27018)]
        );
        assert_eq!((found.auth_source.as_deref(), found.replica_set.as_deref()), (Some("admin"), Some("rs")));
        for (services, texts, expected) in [
            (&[][..], &[][..], "names no hosts"),
            (&["0 0 1 evil.example.com."], &[], "of another domain"),
            (&["0 0 1 xabc.example.net."], &[], "of another domain"),
            (&["0 0 1 abc.example.net."], &[], "of another domain"),
            (&["0 0 0 a.abc.example.net."], &[], "without a host or a port"),
            (&["0 0"], &[], "without a host or a port"),
            (&["0 0 1 a.abc.example.net"], &["a", "b"], "several records"),
            (&["0 0 1 a.abc.example.net"], &["tls=false"], "sets something else"),
        ] {
            let error = read(services, texts).unwrap_err();
            assert!(error.message.contains(expected), "{services:?}: {}", error.message);
        }
    }
}
