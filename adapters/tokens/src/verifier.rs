use std::rc::Rc;

use millrace_core::{
    app::TokenAlgorithm,
    ports::{Claims, Clock, HttpClient, KvCache, LocalFuture, TokenKeys, TokenPolicy, TokenRefusal, TokenVerifier},
};

use crate::{
    claims,
    compact::Compact,
    introspection::IntrospectedTokens,
    issuer_keys::{self, HeldSet, IssuerKeys},
    jwk::secret_bytes,
    provider::Origin,
    remembered::{Remembered, Verified},
    signatures::Signatures,
};

/// How many keys one signature is tried with.
const MOST_TRIED: usize = 8;

/// The verifier of an isolate.
pub struct JwtVerifier {
    keys: IssuerKeys,
    clock: Rc<dyn Clock>,
    signatures: Rc<dyn Signatures>,
    remembered: Remembered,
    introspected: IntrospectedTokens,
}

impl JwtVerifier {
    /// A verifier that knows nothing yet. Sets of keys are kept in `cache`, too: whoever can write
    /// there can let callers in.
    #[must_use]
    pub fn new(http: Rc<dyn HttpClient>, cache: Rc<dyn KvCache>, clock: Rc<dyn Clock>, signatures: Rc<dyn Signatures>) -> Self {
        let introspected = IntrospectedTokens::new(Rc::clone(&http), Rc::clone(&clock));
        Self { keys: IssuerKeys::new(http, cache, Rc::clone(&clock)), clock, signatures, remembered: Remembered::default(), introspected }
    }

    async fn claims(&self, token: &str, policy: TokenPolicy<'_>, deadline_ms: u64) -> Result<Rc<Claims>, TokenRefusal> {
        if let TokenKeys::Introspection(server) = policy.keys {
            return self.introspected.claims(token, server, &policy, deadline_ms).await;
        }
        // HMAC costs what remembering does.
        let digest = if matches!(policy.keys, TokenKeys::Secret(_)) { None } else { Remembered::digest(token) };
        if let Some(known) = digest.as_ref().and_then(|digest| self.remembered.get(digest))
            && policy.algorithms.contains(&known.algorithm)
        {
            claims::check_issuer(&known.claims, &policy)?;
            claims::check(&known.claims, &policy, self.clock.now_ms())?;
            if self.set(&policy, deadline_ms).await?.number == known.key_set {
                return Ok(known.claims);
            }
        }
        let token = Compact::parse(token).map_err(TokenRefusal::Foreign)?;
        claims::check_issuer(&token.claims, &policy)?;
        // What is wrong without its signature makes nobody fetch keys.
        let (algorithm, key) = token.signed_by(policy.algorithms).map_err(TokenRefusal::Caller)?;
        claims::check(&token.claims, &policy, self.clock.now_ms())?;
        let set = self.set(&policy, deadline_ms).await?;
        let set = match self.is_signed(&token, algorithm, key, &set).await {
            Ok(()) => set,
            Err(Unverified::Wrong(_))
                if key.is_none()
                    && let Some(newer) = self.newer(&policy, &set, deadline_ms).await =>
            {
                self.is_signed(&token, algorithm, key, &newer).await.map_err(Unverified::refusal)?;
                newer
            }
            Err(Unverified::NoKey(_)) if let Some(newer) = self.newer(&policy, &set, deadline_ms).await => {
                self.is_signed(&token, algorithm, key, &newer).await.map_err(Unverified::refusal)?;
                newer
            }
            Err(unverified) => return Err(unverified.refusal()),
        };
        let claims = Rc::new(token.claims);
        if let Some(digest) = digest {
            self.remembered.put(digest, Verified { claims: Rc::clone(&claims), algorithm, key_set: set.number });
        }
        Ok(claims)
    }

    /// The keys that the policy names.
    async fn set(&self, policy: &TokenPolicy<'_>, deadline_ms: u64) -> Result<Rc<HeldSet>, TokenRefusal> {
        match policy.keys {
            TokenKeys::Set(text) => self.keys.own(text),
            TokenKeys::Secret(secret) => {
                let secret = secret.expose().trim().as_bytes();
                let least = policy.algorithms.iter().map(|algorithm| secret_bytes(*algorithm)).max().unwrap_or(usize::MAX);
                if secret.len() < least {
                    return Err(TokenRefusal::Operator(format!("`secret` of the policy has {} bytes; the least is {least}", secret.len())));
                }
                Ok(issuer_keys::of_secret(secret))
            }
            _ => match origin(policy) {
                Some(origin) => self.keys.current(origin, deadline_ms).await,
                None => Err(TokenRefusal::Operator("the policy has no keys".to_owned())),
            },
        }
    }

    /// The keys after a set that does not have the token's.
    async fn newer(&self, policy: &TokenPolicy<'_>, set: &HeldSet, deadline_ms: u64) -> Option<Rc<HeldSet>> {
        self.keys.after(set, origin(policy)?, deadline_ms).await
    }

    async fn is_signed(&self, token: &Compact<'_>, algorithm: TokenAlgorithm, key: Option<&str>, set: &HeldSet) -> Result<(), Unverified> {
        let candidates = set.keys.candidates(algorithm, key);
        if candidates.is_empty() {
            return Err(Unverified::NoKey(set.keys.without(algorithm, key)));
        }
        if candidates.len() > MOST_TRIED {
            let reason = format!(
                "the token does not say which of {} keys it is signed with; the most that are tried are {MOST_TRIED}",
                candidates.len()
            );
            return Err(Unverified::NoKey(reason));
        }
        for candidate in candidates {
            if token.signature.len() == candidate.material.signature_bytes(algorithm)
                && self.signatures.verify(algorithm, &candidate.material, token.signed.as_bytes(), &token.signature).await
            {
                return Ok(());
            }
        }
        let is_der = matches!(algorithm, TokenAlgorithm::Es256 | TokenAlgorithm::Es384) && token.signature.first() == Some(&0x30);
        Err(Unverified::Wrong(match is_der && ![64, 96].contains(&token.signature.len()) {
            true => "the signature of the token is in DER; a JWT has `r` and `s` one after the other",
            false => "the signature of the token is wrong",
        }))
    }
}

/// Where the issuer's own server has the keys, if it does.
fn origin<'a>(policy: &TokenPolicy<'a>) -> Option<Origin<'a>> {
    match policy.keys {
        TokenKeys::Discovery => Some(Origin::Issuer(policy.issuer)),
        TokenKeys::Url(url) => Some(Origin::Url(url)),
        TokenKeys::Set(_) | TokenKeys::Secret(_) | TokenKeys::Introspection(_) => None,
    }
}

/// Why a signature is not verified.
enum Unverified {
    NoKey(String),
    Wrong(&'static str),
}

impl Unverified {
    fn refusal(self) -> TokenRefusal {
        TokenRefusal::Caller(match self {
            Self::NoKey(reason) => reason,
            Self::Wrong(reason) => reason.to_owned(),
        })
    }
}

impl TokenVerifier for JwtVerifier {
    fn verify<'a>(
        &'a self,
        token: &'a str,
        policy: TokenPolicy<'a>,
        deadline_ms: u64,
    ) -> LocalFuture<'a, Result<Rc<Claims>, TokenRefusal>> {
        Box::pin(self.claims(token, policy, deadline_ms))
    }
}
