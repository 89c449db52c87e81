//! What an operator asks about an app: nobody calls a tool there.

pub(super) mod description;
pub(super) mod query_plan;
pub(super) mod rehearsal;
