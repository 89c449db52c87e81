//! The stores, a file each over the core's ports: caches are a [`KvCache`](millrace_core::ports::KvCache), counters and records a
//! [`StateStore`](millrace_core::ports::StateStore).
//!
//! | cache | feature | where |
//! |---|---|---|
//! | [`memory`] | `memory`, on by default | every host |
//! | [`memory_state`]: counters and records | always | every host |
//! | `patient_state`: counters and records of another store, within limits of time | `tiered` | every host |
//! | `dynamodb` | `dynamodb` | native hosts |
//! | `redis` | `redis` | native hosts |
//! | `tiered`: memory in front of another | `tiered` | every host |

#[cfg(feature = "dynamodb")]
pub mod dynamodb;
#[cfg(feature = "memory")]
pub mod memory;
pub mod memory_state;
#[cfg(feature = "tiered")]
pub mod patient_state;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "tiered")]
pub mod tiered;
