//! An app's scripts, evaluated, as the memory in which they stand.

use std::sync::Arc;

use super::{
    instance::{Instance, block, broken, pointer},
    mapped::Bytes,
};
use crate::{
    border::{Ask, Fault, Host, Limits, Step},
    frame::Frame,
};

/// The memory of an engine in which scripts were evaluated.
pub struct Image {
    bytes: Bytes,
    stack_pointer: u32,
}

impl Image {
    /// Evaluates the prelude: a script that comes to a function, which is called with what the
    /// module offers, and returns the functions `load`, `enter`, `settle` and `poll`. See
    /// engine/glue.c.
    ///
    /// # Errors
    /// A [`Fault`], or [`Fault::Broken`] with what the prelude threw.
    pub fn base(prelude: &str, limits: Limits, host: &dyn Host) -> Result<Arc<Self>, Fault> {
        let mut instance = Instance::empty()?;
        instance.start(limits.memory_bytes, host)?;
        instance.begin(Limits { memory_bytes: usize::MAX, ..limits })?;
        instance.never_pauses();
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        match block(instance.eval(script, pointer(limits.memory_bytes), host))? {
            Step::Done(_) => Self::of(&mut instance),
            other => Err(Fault::Broken(format!("the prelude: {other:?}"))),
        }
    }

    /// The memory.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes an instance takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn held(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn stack_pointer(&self) -> u32 {
        self.stack_pointer
    }

    fn of(instance: &mut Instance) -> Result<Arc<Self>, Fault> {
        let stack_pointer = instance.stack_pointer();
        let bytes = Bytes::new(instance.memory()?, stack_pointer as usize).map_err(broken)?;
        Ok(Arc::new(Self { bytes, stack_pointer }))
    }
}

/// Evaluates scripts, one after the other in one instance, for an image.
pub struct Loader {
    instance: Instance,
    limits: Limits,
}

impl Loader {
    /// One that goes on where an image ends. The limits are those of each script; the memory is
    /// that of all of them together.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn on(image: &Arc<Image>, limits: Limits) -> Result<Self, Fault> {
        Ok(Self { instance: Instance::new(image)?, limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON
    /// with a `path`, by which stacks name it. The step has what the prelude's `poll` says of it.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. Then nothing can be done but to [`discard`](Self::discard).
    pub fn script(&mut self, meta: &str, source: &str, host: &dyn Host) -> Result<Step, Fault> {
        self.instance.begin(Limits { memory_bytes: usize::MAX, ..self.limits })?;
        self.instance.never_pauses();
        block(self.instance.evaluate(Frame { head: meta, tail: Some(source.as_bytes()) }, self.limits, host))
    }

    /// How much memory the engine uses with what was evaluated, in bytes.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the engine does not say.
    pub fn memory_bytes(&self) -> Result<usize, Fault> {
        self.instance.top()
    }

    /// What scripts have asked for since this was called last: what takes time.
    pub fn asks(&mut self) -> Vec<Ask> {
        self.instance.asks()
    }

    /// Forgets all that was evaluated.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn discard(&mut self) -> Result<(), Fault> {
        self.instance.restore()
    }

    /// The image with all that was evaluated.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn into_image(mut self) -> Result<Arc<Image>, Fault> {
        Image::of(&mut self.instance)
    }
}
