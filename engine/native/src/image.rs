//! An app's scripts, evaluated, as the memory in which they stand.

use std::{cell::Cell, sync::Arc};

use crate::{
    frame::{Frame, Message},
    instance::{Fault, Instance, Limits, Step, broken},
    mapped::Bytes,
    module::Host,
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

/// What came of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// It is part of the image.
    Kept,
    /// It asked for something while it was evaluated: the time, randomness, the outside. It is not part of the image; a call has to evaluate
    /// it, so that it gets what is real.
    Asked,
    /// It threw: see [`Step::Threw`]. It is not part of the image.
    Threw(String),
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
    pub fn new(prelude: &str, limits: Limits) -> Result<Self, Fault> {
        let host = Nothing::default();
        let mut instance = Instance::empty()?;
        instance.start(limits.memory_bytes, &host)?;
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        match instance.eval(script, limits.fuel, &host)? {
            Step::Done(_) => {}
            other => return Err(Fault::Broken(format!("the prelude: {other:?}"))),
        }
        let image = Image::of(&mut instance)?;
        let instance = Instance::new(&image)?;
        Ok(Self { instance, image, limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON with a `path`, by which stacks name it.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. What was loaded before stays.
    pub fn script(&mut self, meta: &str, source: &str) -> Result<Loaded, Fault> {
        let host = Nothing::default();
        self.instance.restore()?;
        let step = self.instance.eval(Frame { head: meta, tail: Some(source.as_bytes()) }, self.limits.fuel, &host)?;
        let has_asked = self.instance.forget_asks() || host.was_asked.get();
        match step {
            Step::Threw(text) => Ok(Loaded::Threw(text)),
            _ if has_asked => Ok(Loaded::Asked),
            _ => {
                self.image = Image::of(&mut self.instance)?;
                self.instance = Instance::new(&self.image)?;
                Ok(Loaded::Kept)
            }
        }
    }

    /// The image as it is now.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}

/// The host of scripts that are being loaded, which has nothing, and knows whether it was asked.
#[derive(Default)]
struct Nothing {
    was_asked: Cell<bool>,
}

impl Host for Nothing {
    fn say(&self, _: i32, _: Message) -> Option<Message> {
        self.was_asked.set(true);
        None
    }

    fn clock_ms(&self) -> f64 {
        self.was_asked.set(true);
        0.0
    }

    fn random(&self, _: &mut [u8]) {
        self.was_asked.set(true);
    }
}
