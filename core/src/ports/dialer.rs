use alloc::{boxed::Box, string::String};
use core::{
    future::poll_fn,
    task::{Context, Poll},
};

use super::LocalFuture;
use crate::{Error, ErrorKind, Result};

/// Opens TCP connections, for drivers of protocols that are not HTTP.
pub trait Dialer {
    /// Connects to a host name or an IP address (IPv6 without brackets), without TLS.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) where no connection could be opened,
    /// [`TimedOut`](ErrorKind::TimedOut) at the deadline, in milliseconds since the Unix epoch.
    fn dial<'a>(&'a self, host: &'a str, port: u16, deadline_ms: u64) -> LocalFuture<'a, Result<Box<dyn ByteStream>>>;
}

/// A connection: bytes both ways. Dropping it closes it.
///
/// The functions are called as those of `futures_io` are: `Pending` means that the context's waker
/// is woken when it is worth trying again. An error of any of them is
/// [`Unavailable`](ErrorKind::Unavailable): the connection is gone, and nobody knows what of the
/// bytes arrived.
pub trait ByteStream {
    /// Reads into a buffer; 0 is the end.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>>;

    /// Takes over some of the bytes, at least one. A call that was `Pending` is made again with the
    /// same bytes.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>>;

    /// Sends what was taken over.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<()>>;

    /// Says that nothing more is written.
    ///
    /// # Errors
    /// The connection is broken.
    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<()>>;

    /// Goes on with TLS, which the other side expects from here on. Everything received so far has
    /// been read.
    ///
    /// # Errors
    /// [`Denied`](ErrorKind::Denied) where the server's certificate is not trusted,
    /// [`Configuration`](ErrorKind::Configuration) where the host cannot do what `tls` asks for or
    /// the certificates cannot be read, [`TimedOut`](ErrorKind::TimedOut) at the deadline, else
    /// [`Unavailable`](ErrorKind::Unavailable).
    fn start_tls(self: Box<Self>, tls: Tls, deadline_ms: u64) -> LocalFuture<'static, Result<Box<dyn ByteStream>>>;
}

/// How TLS is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Whom to talk to: the name in the certificate, and what is sent as SNI.
    pub server_name: String,
    /// Who is trusted to sign certificates.
    pub roots: Roots,
    /// What is verified.
    pub verify: Verify,
}

/// Who is trusted to sign certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Whom the host trusts.
    Host,
    /// Nobody but these certificates, as PEM.
    Pem(String),
    /// Nobody but the certificates in this file, as PEM. A host without files refuses it.
    File(String),
}

/// What is verified of a certificate. A host that cannot do less verifies everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// That it is trusted, and that it is the server's.
    Full,
    /// That it is trusted.
    Chain,
    /// Nothing: what is sent is encrypted, to any server that answers.
    Nothing,
}

impl dyn ByteStream + '_ {
    /// Reads into a buffer; 0 is the end.
    ///
    /// # Errors
    /// As [`poll_read`](ByteStream::poll_read).
    pub async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        poll_fn(|context| self.poll_read(context, buffer)).await
    }

    /// Writes and sends all bytes.
    ///
    /// # Errors
    /// As [`poll_write`](ByteStream::poll_write).
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let taken = poll_fn(|context| self.poll_write(context, bytes)).await?;
            bytes = match bytes.get(taken..) {
                Some(rest) if taken > 0 => rest,
                _ => return Err(Error::new(ErrorKind::Unavailable, "the connection takes no more bytes")),
            };
        }
        poll_fn(|context| self.poll_flush(context)).await
    }
}
