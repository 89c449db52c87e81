//! The caches, each a [`KvCache`](millrace_core::ports::KvCache) and a file over the core's ports.
//!
//! | cache | feature | where |
//! |---|---|---|
//! | [`memory`] | `memory`, on by default | every host |
//! | `dynamodb` | `dynamodb` | native hosts |
//! | `redis` | `redis` | native hosts |
//! | `tiered`: memory in front of another | `tiered` | every host |

#[cfg(feature = "dynamodb")]
pub mod dynamodb;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "tiered")]
pub mod tiered;
