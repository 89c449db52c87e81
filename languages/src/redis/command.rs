//! What is known of a command.

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct RedisCommand {
    /// Its name, in upper case; with a space before that of a sub-command.
    pub name: &'static str,
    /// How many arguments it takes, its name among them; -2 is 2 or more.
    pub arity: i8,
    /// Whether it changes nothing.
    pub reads: bool,
    /// Whether it may be run.
    pub admission: Admission,
    /// What its reply means.
    pub reply: ReplyForm,
    /// The first argument that is an option, as in `SET key value EX 60`; 0 where there is none, or
    /// where the command says how many keys stand before it.
    pub options_from: u8,
}

/// Whether a command may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// By every adapter.
    Free,
    /// By an adapter that names it in its option `allow`.
    Named(Why),
    /// By none.
    Never(Why),
    /// It has sub-commands, and this is none of them.
    Container,
}

/// What is wrong with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is for those who run the server, or reaches beyond the database.
    Administers,
    /// It runs code on the server.
    Scripting,
    /// It goes through every key while everyone else waits.
    LooksThrough,
    /// It waits until something happens.
    Waits,
    /// It changes what the connection is, which later calls use.
    Connection,
}

/// What a reply means. The protocol has lists only, also for pairs and for numbers with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyForm {
    /// What it is.
    Plain,
    /// Names and values: one record.
    Record,
    /// Values of the fields that the command names: one record.
    Fields,
    /// A score.
    Score,
    /// Several scores.
    Scores,
    /// A score with the option `INCR`.
    ScoreOfIncr,
    /// Members with their scores.
    Scored,
    /// Members, with their scores where `WITHSCORES` asks for them.
    WithScores,
    /// Fields, with their values where `WITHVALUES` asks for them.
    WithValues,
    /// Where to go on, and values.
    Cursor,
    /// Where to go on, and fields with values.
    CursorPairs,
    /// Where to go on, and members with scores.
    CursorScores,
    /// Entries of a stream.
    Entries,
    /// Entries of several streams.
    Streams,
}
