//! Standard input and output, for messages and nothing else.
//!
//! On Unix both get other file descriptors: whoever writes to standard output by mistake, a library
//! in C among them, writes to standard error, and nobody else takes a byte of the input. Elsewhere
//! nothing in this process writes there but what is here.

use std::io::{self, Read, Write};
#[cfg(unix)]
use std::{fs::File, os::fd::AsFd as _};

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};

/// What messages come from and go to.
pub(super) struct Streams {
    pub(super) input: Box<dyn Read + Send>,
    pub(super) output: Box<dyn Write + Send>,
}

impl Streams {
    /// Takes them from everybody else of this process.
    ///
    /// # Errors
    /// There are no file descriptors left.
    #[cfg(unix)]
    pub(super) fn take() -> io::Result<Self> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self { input: Box::new(Waiting(input)), output: Box::new(Waiting(output)) })
    }

    /// Shares them with the rest of the process.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(unix))]
    pub(super) fn take() -> io::Result<Self> {
        Ok(Self { input: Box::new(io::stdin()), output: Box::new(io::stdout()) })
    }
}

/// A stream that waits also where whoever gave it to this process has made it one that does not.
#[cfg(unix)]
struct Waiting(File);

#[cfg(unix)]
impl Waiting {
    fn wait<T>(&mut self, flags: PollFlags, mut attempt: impl FnMut(&mut File) -> io::Result<T>) -> io::Result<T> {
        loop {
            match attempt(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&self.0, flags)], None))?;
                }
                outcome => return outcome,
            }
        }
    }
}

#[cfg(unix)]
impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::IN, |file| file.read(buffer))
    }
}

#[cfg(unix)]
impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(PollFlags::OUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
