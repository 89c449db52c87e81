//! The stores, a file each over the core's ports: caches are a
//! [`KvCache`](millrace_core::ports::KvCache), counters and records a
//! [`StateStore`](millrace_core::ports::StateStore).
//!
//! | cache | feature | where |
//! |---|---|---|
//! | [`memory`] | `memory`, on by default | every host |
//! | [`memory_state`]: counters and records | always | every host |
//! | `file_state`: counters and records in a file that the isolates of a machine share | `file` | native hosts |
//! | `patient_state`: counters and records of another store, within limits of time | `tiered` | every host |
//! | `dynamodb` | `dynamodb` | native hosts |
//! | `redis` | `redis` | native hosts |
//! | `tiered`: memory in front of another | `tiered` | every host |

#[cfg(feature = "dynamodb")]
pub mod dynamodb;
#[cfg(feature = "file")]
pub mod file_state;
#[cfg(feature = "memory")]
pub mod memory;
pub mod memory_state;
#[cfg(feature = "tiered")]
pub mod patient_state;
#[cfg(feature = "redis")]
pub mod redis;
mod share;
#[cfg(feature = "tiered")]
pub mod tiered;
