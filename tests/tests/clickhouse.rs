//! `connector: clickhouse` against a stand-in over ClickHouse's engine that ClickHouse's own client
//! works with, and against servers that answer as no real one does.

mod app;
mod hostile;
mod life;
mod values;
