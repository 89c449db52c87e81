//! The chain of audit entries that an isolate keeps, where the operator has set its key. It begins
//! with the first entry, and ends with the isolate.

use alloc::{rc::Rc, string::String};
use core::cell::RefCell;

use crate::{
    audit_chain::{AUDIT_KEY, AuditEntry, CHAIN_BEGINS, CHAIN_ENDS, ChainKey, Link, Seal, chain_name, timestamp},
    hex,
    ports::{AUDIT_TARGET, Clock, Ports},
};

/// The audit entries of an isolate.
pub(in crate::pipeline) struct AuditLog {
    clock: Rc<dyn Clock>,
    chain: RefCell<Option<Chain>>,
}

struct Chain {
    key: ChainKey,
    name: String,
    /// The number of the last link, and its seal.
    seq: u64,
    seal: Seal,
}

/// Where an entry stands: what makes it a link.
#[derive(Clone)]
pub(in crate::pipeline) struct Sealed {
    pub(in crate::pipeline) chain: String,
    /// `None` for an entry beside the chain.
    pub(in crate::pipeline) seq: Option<u64>,
    pub(in crate::pipeline) mac: String,
}

impl AuditLog {
    pub(in crate::pipeline) fn new(ports: &Ports) -> Self {
        Self { clock: Rc::clone(&ports.clock), chain: RefCell::new(None) }
    }

    /// Makes an entry the next link of the chain; `None` without a key.
    pub(in crate::pipeline) fn link(&self, ports: &Ports, entry: AuditEntry<'_>) -> Option<Sealed> {
        let mut chain = self.chain.borrow_mut();
        let chain = begun(&mut chain, ports)?;
        Some(chain.next(&Link::Entry(entry)))
    }

    /// Seals an entry that may be undone with the transaction that it is written in: it is no link,
    /// so the chain has no gap then. `None` without a key.
    pub(in crate::pipeline) fn beside(&self, ports: &Ports, entry: AuditEntry<'_>) -> Option<Sealed> {
        let mut chain = self.chain.borrow_mut();
        let Chain { key, name, .. } = begun(&mut chain, ports)?;
        let seal = key.seal(&Seal::default(), name, None, &Link::Entry(entry));
        Some(Sealed { chain: name.clone(), seq: None, mac: hex::encode(&seal) })
    }
}

/// The chain, which begins where it has not.
fn begun<'c>(chain: &'c mut Option<Chain>, ports: &Ports) -> Option<&'c mut Chain> {
    if chain.is_none() {
        let key = ChainKey::of(ports.env.var(AUDIT_KEY)?.expose())?;
        let mut random = [0; 8];
        ports.random.fill(&mut random);
        let name = chain_name(ports.clock.now_ms(), &random);
        let seal = key.seal(&Seal::default(), &name, Some(0), &Link::Begin);
        let (chain_name, mac) = (name.as_str(), hex::encode(&seal));
        tracing::info!(target: AUDIT_TARGET, chain = chain_name, seq = 0_u64, mac, "{CHAIN_BEGINS}");
        *chain = Some(Chain { key, name, seq: 0, seal });
    }
    chain.as_mut()
}

impl Chain {
    fn next(&mut self, link: &Link<'_>) -> Sealed {
        self.seq += 1;
        self.seal = self.key.seal(&self.seal, &self.name, Some(self.seq), link);
        Sealed { chain: self.name.clone(), seq: Some(self.seq), mac: hex::encode(&self.seal) }
    }
}

/// The isolate ends, and says how far its chain has come.
impl Drop for AuditLog {
    fn drop(&mut self) {
        if let Some(chain) = self.chain.get_mut() {
            let at = timestamp(self.clock.now_ms());
            let Sealed { chain, seq, mac } = chain.next(&Link::End(&at));
            tracing::info!(target: AUDIT_TARGET, at, chain, seq, mac, "{CHAIN_ENDS}");
        }
    }
}
