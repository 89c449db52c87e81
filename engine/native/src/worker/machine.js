// The engine's instances in a Worker, called from Rust. Frames cross as bytes, and are never looked into here.
//
// What runs for long is suspended where the platform can do that (`WebAssembly.promising`): the host gets its turn, and so do other requests.
// A script then goes on outside of any call from Rust, so whatever it wants of the host is a stop, too.

/** What the module comes to where it did not return. */
const FUEL = -1;
const STACK = -2;
const MEMORY = -3;
const BROKEN = -4;

/** What it comes to where it stops: for others to have their turn, or for the host to say something. `resume` makes it go on. */
const PAUSE = -5;
const SAY = -6;
const CLOCK = -7;
const RANDOM = -8;

/** A memory that is larger than its image by so much is a large one. Of those that nobody uses one is kept: giving back a memory takes V8 its time,
 * and a large one after the other would pass what the platform allows. */
const MAX_KEPT_GROWTH = 1 << 20;

/** The most that the memories of an isolate may have, together. The platform ends one that has 128 MB. */
const SHARED_BYTES = 72 << 20;

/** The most questions that wait to be taken at a time. Their bytes are memory of what all share. */
const MAX_ASKS = 200_000;

const MAX_TANK = 0x7fffffff;

const canSuspend = typeof WebAssembly.promising === "function";

let engine;

/** What the memories of this isolate have. */
let shared = 0;

/** The machine that nobody uses and whose memory is large, if there is one. */
let spare;

/** The compiled module, once for each isolate. */
export function install(module) {
  engine = module;
}

class Machine {
  /** The questions since they were taken last: number, kind and frame in turn. */
  asks = [];
  askedBytes = 0;
  /** Units of fuel beyond those in the tank. */
  left = 0;
  /** Whether it was refused memory of what all share. */
  isShort = false;
  why = "";
  memory = undefined;
  /** What its memory is before each call. */
  image = undefined;
  /** What its memory has of what all share. */
  held = 0;
  exports = undefined;
  answer = undefined;
  /** What a function of the host threw: nothing in the module's way back may take it for the script's own. */
  failure = undefined;
  /** What the module wants of the host, where it stopped. */
  wanted = undefined;
  /** Goes on, and whoever waits for what becomes of it. */
  goOn = undefined;
  tell = undefined;
  fail = undefined;
  /** Whether something runs in it that has neither come to its end nor to a stop. */
  isRunning = false;
  isDropped = false;

  constructor(host, suspends, slice, depth) {
    this.suspends = suspends && canSuspend;
    this.slice = slice;
    this.depth = depth;
    const guard = (work) => (...parameters) => {
      try {
        return work(...parameters);
      } catch (error) {
        this.failure ??= error;
        throw error;
      }
    };
    const may = (work) => (this.suspends ? new WebAssembly.Suspending(guard(work)) : guard(work));
    this.host = {
      ask: (id, kind, from, length) => this.ask(id, kind, from, length),
      say: may((kind, from, length) => {
        const frame = this.read(from, length);
        return host.isHere() ? this.answered(host.say(kind, frame)) : this.stop(SAY, { kind, frame }).then((answer) => this.answered(answer));
      }),
      reply: (into) => new Uint8Array(this.memory.buffer).set(this.answer, into >>> 0),
      clock: may(() => (host.isHere() ? host.clock() : this.stop(CLOCK))),
      random: may((into, length) => {
        if (host.isHere()) return host.random(new Uint8Array(this.memory.buffer, into >>> 0, length));
        return this.stop(RANDOM, { length }).then((bytes) => new Uint8Array(this.memory.buffer).set(bytes, into >>> 0));
      }),
      more: may(() => (this.suspends ? this.stop(PAUSE).then(() => this.fill()) : this.fill())),
      grow: (end) => this.grow(end >>> 0),
    };
    this.start();
  }

  start() {
    this.release();
    this.exports = new WebAssembly.Instance(engine, { host: this.host }).exports;
    this.memory = this.exports.memory;
    this.hold(this.memory.buffer.byteLength);
  }

  hold(bytes) {
    shared += bytes - this.held;
    this.held = bytes;
  }

  release() {
    if (spare === this) spare = undefined;
    this.hold(0);
    this.forgetAsked();
  }

  /** Gives its memory back, and begins in a new one. */
  renew() {
    this.start();
    return this.copy();
  }

  /** Copies the image into its memory. */
  copy() {
    const { from, bytes } = this.image;
    const end = from + bytes.length;
    const had = this.memory.buffer.byteLength;
    // Beyond the end of the heap nothing was ever written.
    const top = had > end ? this.word(this.exports.heap_top) : had;
    if (had < end) {
      if (!this.grow(end)) return false;
      this.memory.grow((end - had + 0xffff) >>> 16);
    }
    this.hold(this.memory.buffer.byteLength);
    const memory = new Uint8Array(this.memory.buffer);
    memory.set(bytes, from);
    if (top > end) memory.fill(0, end, top);
    this.exports.__stack_pointer.value = from;
    this.exports.depth.value = this.depth;
    return true;
  }

  forgetAsked() {
    shared -= this.askedBytes;
    this.askedBytes = 0;
  }

  /** Whether the heap may end there. */
  grow(end) {
    if (end > this.held) {
      if (shared + end - this.held > SHARED_BYTES && spare !== undefined && spare !== this) spare.renew();
      if (this.isDropped || shared + end - this.held > SHARED_BYTES) {
        this.isShort = true;
        return 0;
      }
      this.hold(end);
    }
    return 1;
  }

  ask(id, kind, from, length) {
    this.isShort ||= this.isDropped || shared + length > SHARED_BYTES;
    if (this.asks.length >= MAX_ASKS * 3 || this.isShort) throw MEMORY;
    this.askedBytes += length;
    shared += length;
    this.asks.push(id, kind, this.read(from, length));
  }

  /** Fills the tank. What it is below zero is of the next filling: a call ends at the same unit however large the fillings are. */
  fill() {
    const { fuel } = this.exports;
    const given = Math.min(Math.max(this.slice, -fuel.value), this.left);
    this.left -= given;
    fuel.value += given;
    return fuel.value >= 0 ? 1 : 0;
  }

  answered(answer) {
    this.answer = answer;
    return answer === undefined ? -1 : answer.length;
  }

  read(from, length) {
    return new Uint8Array(this.memory.buffer, from >>> 0, length >>> 0).slice();
  }

  word(global) {
    return new DataView(this.memory.buffer).getUint32(global.value, true);
  }

  /** The module stops: whoever runs it is told why, and makes it go on. */
  stop(state, wanted) {
    return new Promise((resolve) => {
      this.wanted = wanted;
      this.goOn = resolve;
      this.isRunning = false;
      this.tell(state);
    });
  }

  /** What the module comes to next. */
  next() {
    this.isRunning = true;
    return new Promise((resolve, reject) => {
      this.tell = resolve;
      this.fail = reject;
    });
  }

  /** Runs an export: what it comes to, or a promise of that. */
  enter(name, parameters) {
    if (!this.suspends) {
      try {
        return this.exports[name](...parameters);
      } catch (error) {
        return this.fault(error);
      }
    }
    const next = this.next();
    const end = (tell, value) => {
      this.isRunning = false;
      tell(value);
    };
    WebAssembly.promising(this.exports[name])(...parameters)
      .catch((error) => this.fault(error))
      .then((state) => end(this.tell, state), (error) => end(this.fail, error));
    return next;
  }

  fault(error) {
    if (this.failure !== undefined) {
      const { failure } = this;
      this.failure = undefined;
      throw failure;
    }
    if (error === MEMORY) return MEMORY;
    if (error instanceof WebAssembly.RuntimeError && this.exports.fuel.value < 0) return FUEL;
    if (error instanceof RangeError && /call stack/.test(error.message)) return STACK;
    this.why = String(error);
    return BROKEN;
  }

  /** Runs an export that takes a frame and more numbers. */
  send(name, frame, before, after) {
    let place;
    try {
      place = this.spared(() => this.exports.alloc(frame.length) >>> 0);
    } catch (error) {
      return this.fault(error);
    }
    if (place === 0) return MEMORY;
    new Uint8Array(this.memory.buffer).set(frame, place);
    return this.enter(name, [...before, place, frame.length, ...after]);
  }

  /** Runs what must not stop, and takes little. What it takes is paid. */
  spared(work) {
    const { fuel } = this.exports;
    const owed = fuel.value;
    fuel.value = MAX_TANK;
    try {
      return work();
    } finally {
      fuel.value = owed - (MAX_TANK - fuel.value);
    }
  }
}

/** A machine whose memory is an image, or in which the engine has not started. */
export function make(isHere, say, clock, random, suspends, slice, depth) {
  return new Machine({ isHere, say, clock, random }, suspends, slice, depth);
}

/** Gives its memory back. */
export function drop(machine) {
  machine.isDropped = true;
  machine.release();
}

/** Starts the engine. */
export function init(machine, heapEnd, stackBytes) {
  setFuel(machine, MAX_TANK);
  return machine.enter("init", [heapEnd, stackBytes]);
}

/** Whether something runs in it that nobody waits for any more: then it cannot be put back. */
export function isRunning(machine) {
  return machine.isRunning;
}

/** Sets the fuel. */
export function setFuel(machine, fuel) {
  const tank = Math.min(fuel, machine.slice);
  machine.exports.fuel.value = tank;
  machine.left = fuel - tank;
}

/** Evaluates a script. */
export function evaluate(machine, frame, heapEnd) {
  return machine.send("eval", frame, [], [heapEnd]);
}

/** Begins a call. */
export function call(machine, frame, heapEnd) {
  return machine.send("call", frame, [], [heapEnd]);
}

/** Runs what a script has left to be done; 1 where all of it is done. */
export function drain(machine) {
  return machine.enter("drain", []);
}

/** Answers a question. */
export function settle(machine, id, isAnswer, frame) {
  return machine.send("settle", frame, [id, isAnswer ? 1 : 0], []);
}

/** What it wants of the host: the kind and the frame of what it says, or how many random bytes. */
export function wantedKind(machine) {
  return machine.wanted.kind;
}

export function wantedFrame(machine) {
  return machine.wanted.frame;
}

export function wantedLength(machine) {
  return machine.wanted.length;
}

/** Goes on after a stop, with what was wanted. */
export function resume(machine, value) {
  const { goOn } = machine;
  machine.goOn = undefined;
  const next = machine.next();
  goOn(value);
  return next;
}

/** What the module left. */
export function text(machine) {
  const { out, out_length } = machine.exports;
  return machine.read(machine.word(out), machine.word(out_length));
}

/** Why it broke. */
export function why(machine) {
  return machine.why;
}

/** Whether it was refused memory that all share. */
export function isShort(machine) {
  return machine.isShort;
}

/** The questions since this was called last: number, kind and frame in turn. */
export function asks(machine) {
  machine.forgetAsked();
  return machine.asks.splice(0);
}

/** Forgets what was asked before. */
export function begin(machine) {
  if (spare === machine) spare = undefined;
  machine.asks.length = 0;
  machine.forgetAsked();
  machine.isShort = false;
}

/** What is left of the fuel. */
export function fuel(machine) {
  return machine.exports.fuel.value + machine.left;
}

/** The memory as it is. What is below the stack's top is rubbish, and not kept. */
export function image(machine) {
  const from = machine.exports.__stack_pointer.value;
  // As elsewhere: the end of a page.
  const end = (machine.word(machine.exports.heap_top) + 0xffff) & ~0xffff;
  return { from, bytes: machine.read(from, end - from) };
}

/** How many bytes the memory of an image takes. */
export function size({ from, bytes }) {
  return from + bytes.length;
}

/** Puts an image back: after it nothing of an earlier call is there. False where there is no memory for it. */
export function restore(machine, image) {
  machine.image = image;
  // What stopped on the way never goes on.
  machine.goOn = undefined;
  const isLarge = machine.memory.buffer.byteLength > size(image) + MAX_KEPT_GROWTH;
  if (!machine.copy()) return false;
  begin(machine);
  if (isLarge) {
    // The one that was used last is the first that is used again.
    spare?.renew();
    spare = machine;
  }
  return true;
}
