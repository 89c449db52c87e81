//! An app's scripts, evaluated, as the memory in which they stand.

use std::sync::Arc;

use super::{
    instance::{Instance, broken},
    mapped::Bytes,
};
use crate::{
    border::{Fault, Host, Limits, Loaded, Step},
    frame::Frame,
};

/// The memory of an engine in which scripts were evaluated.
pub struct Image {
    bytes: Bytes,
    stack_pointer: u32,
}

impl Image {
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

/// Makes an image, script by script.
pub struct Loader {
    instance: Instance,
    image: Arc<Image>,
    limits: Limits,
}

impl Loader {
    /// Evaluates the prelude: a script that comes to a function, which is called with what the module offers, and returns the functions
    /// `load`, `enter`, `settle` and `poll`. See engine/glue.c.
    ///
    /// # Errors
    /// A [`Fault`], or [`Fault::Broken`] with what the prelude threw.
    pub fn new(prelude: &str, limits: Limits, host: &dyn Host) -> Result<Self, Fault> {
        let mut instance = Instance::empty()?;
        instance.start(limits.memory_bytes, host)?;
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        match instance.eval(script, limits.fuel, host)? {
            Step::Done(_) => {}
            other => return Err(Fault::Broken(format!("the prelude: {other:?}"))),
        }
        Self::on(&Image::of(&mut instance)?, limits)
    }

    /// One that goes on where an image ends.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn on(image: &Arc<Image>, limits: Limits) -> Result<Self, Fault> {
        Ok(Self { instance: Instance::new(image)?, image: Arc::clone(image), limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON with a `path`, by which stacks name it. `keep`
    /// says afterwards whether it is to be part of the image.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. What was loaded before stays.
    pub fn script(&mut self, meta: &str, source: &str, host: &dyn Host, keep: impl FnOnce(&str) -> bool) -> Result<Loaded, Fault> {
        self.instance.restore()?;
        let step = self.instance.eval(Frame { head: meta, tail: Some(source.as_bytes()) }, self.limits.fuel, host)?;
        let has_asked = !self.instance.asks().is_empty();
        match step {
            Step::Threw(text) => Ok(Loaded::Threw(text)),
            Step::Done(text) if has_asked || !keep(&text) => Ok(Loaded::Refused(text)),
            Step::Done(text) => {
                self.image = Image::of(&mut self.instance)?;
                self.instance = Instance::new(&self.image)?;
                Ok(Loaded::Kept(text))
            }
            Step::Waits | Step::Late => Ok(Loaded::Waits),
        }
    }

    /// The image as it is now.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}
