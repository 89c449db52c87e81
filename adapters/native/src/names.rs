//! Names of hosts: looked up once for a connection, and judged by what they resolve to.
//!
//! What a connection is opened to is what was judged: the client has no other look-up that could
//! give another answer.

use std::{fmt, io, net::SocketAddr, sync::Arc};

use millrace_core::public_address::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Gives the addresses of a name. The port is not looked at. May keep its thread waiting.
pub type Lookup = Arc<dyn Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// The look-up of the operating system.
pub(crate) fn system() -> Lookup {
    use std::net::ToSocketAddrs as _;
    Arc::new(|name| Ok((name, 0).to_socket_addrs()?.collect()))
}

/// Resolves the names that a client connects to.
pub(crate) struct Names {
    lookup: Lookup,
    public_only: bool,
}

impl Names {
    pub(crate) const fn new(lookup: Lookup, public_only: bool) -> Self {
        Self { lookup, public_only }
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, public_only) = (self.lookup.clone(), self.public_only);
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || lookup(name.as_str())).await??;
            let admitted: Vec<SocketAddr> = found.into_iter().filter(|address| !public_only || is_public(address.ip())).collect();
            if public_only && admitted.is_empty() {
                return Err(NotPublic.into());
            }
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

/// A name resolves to no public address.
#[derive(Debug)]
pub(crate) struct NotPublic;

impl NotPublic {
    /// Whether it is what an error was caused by.
    pub(crate) fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<Self>())
    }
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name does not resolve to a public address")
    }
}

impl std::error::Error for NotPublic {}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(found: &'static [&'static str], public_only: bool) -> Result<Vec<String>, String> {
        let lookup: Lookup = Arc::new(move |_| Ok(found.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0)).collect()));
        let names = Names::new(lookup, public_only);
        let addresses = crate::isolate::run(move || async move {
            let resolving = names.resolve("api.example.com".parse().unwrap());
            resolving.await.map(|addresses| addresses.map(|address| address.ip().to_string()).collect())
        });
        addresses.unwrap().map_err(|error| {
            assert!(NotPublic::caused(&*error), "{error}");
            error.to_string()
        })
    }

    #[test]
    fn public_addresses_remain_in_their_order() {
        let found = &["10.0.0.1", "2606:4700:4700::1111", "::1", "1.1.1.1", "::ffff:127.0.0.1", "fe80::1", "8.8.8.8"];
        assert_eq!(resolved(found, true).unwrap(), ["2606:4700:4700::1111", "1.1.1.1", "8.8.8.8"]);
        assert_eq!(resolved(found, false).unwrap(), *found);
    }

    #[test]
    fn where_no_public_address_remains_the_look_up_fails() {
        for found in [&["127.0.0.1"][..], &["10.0.0.1", "fd00::1"], &[]] {
            assert_eq!(resolved(found, true).unwrap_err(), "the name does not resolve to a public address");
        }
        assert_eq!(resolved(&["127.0.0.1"], false).unwrap(), ["127.0.0.1"]);
    }
}
