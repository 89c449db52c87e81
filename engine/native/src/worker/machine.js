// The engine's instances in a Worker, called from Rust. Frames cross as bytes, and are never looked into here.

/** What `enter` gives where the module did not return. */
const FUEL = -1;
const STACK = -2;
const MEMORY = -3;
const BROKEN = -4;

/** What the module may take of fuel to say what it left, whatever the call has used up. */
const SPARE_FUEL = 100_000;

/** A memory that is larger than its image by so much is given back: it would stay. */
const MAX_KEPT_GROWTH = 16 << 20;

let engine;

/** The compiled module, once for each isolate. */
export function install(module) {
  engine = module;
}

class Machine {
  /** The questions since they were taken last: number, kind and frame in turn. */
  asks = [];
  why = "";
  image = undefined;
  exports = undefined;
  answer = undefined;

  constructor(say, clock, random) {
    this.host = {
      ask: (id, kind, from, length) => void this.asks.push(id, kind, this.read(from, length)),
      say: (kind, from, length) => {
        this.answer = say(kind, this.read(from, length));
        return this.answer === undefined ? -1 : this.answer.length;
      },
      reply: (into) => new Uint8Array(this.memory.buffer).set(this.answer, into),
      clock,
      random: (into, length) => random(new Uint8Array(this.memory.buffer, into, length)),
    };
    this.start();
  }

  start() {
    this.exports = new WebAssembly.Instance(engine, { host: this.host }).exports;
    this.memory = this.exports.memory;
  }

  read(from, length) {
    return new Uint8Array(this.memory.buffer).slice(from, from + length);
  }

  /** Puts a frame into the memory; zero where there is no room. */
  put(frame) {
    const place = this.exports.alloc(frame.length) >>> 0;
    if (place !== 0) new Uint8Array(this.memory.buffer).set(frame, place);
    return place;
  }

  enter(work) {
    try {
      return work();
    } catch (error) {
      if (error === MEMORY) return MEMORY;
      if (error instanceof WebAssembly.RuntimeError && this.exports.fuel.value < 0) return FUEL;
      if (error instanceof RangeError) return STACK;
      this.why = String(error);
      return BROKEN;
    }
  }

  /** Runs an export that takes a frame and more numbers. */
  send(name, frame, before, after) {
    return this.enter(() => {
      const place = this.put(frame);
      if (place === 0) throw MEMORY;
      return this.exports[name](...before, place, frame.length, ...after);
    });
  }

  spared(work) {
    const left = this.exports.fuel.value;
    this.exports.fuel.value = Math.min(Math.max(left, 0) + SPARE_FUEL, 0x7fffffff);
    try {
      return work();
    } finally {
      this.exports.fuel.value = left;
    }
  }
}

/** A machine whose memory is an image, or in which the engine has not started. The functions are those of the host. */
export function make(say, clock, random) {
  return new Machine(say, clock, random);
}

/** Starts the engine. */
export function init(machine, heapEnd, stackBytes) {
  machine.exports.fuel.value = 0x7fffffff;
  return machine.enter(() => (machine.exports.init(heapEnd, stackBytes), 0));
}

/** Fills the tank. */
export function setFuel(machine, fuel) {
  machine.exports.fuel.value = fuel;
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
  return machine.enter(() => machine.exports.drain());
}

/** Answers a question. */
export function settle(machine, id, isAnswer, frame) {
  return machine.send("settle", frame, [id, isAnswer ? 1 : 0], []);
}

/** What the module left. */
export function text(machine) {
  return machine.spared(() => machine.read(machine.exports.out() >>> 0, machine.exports.out_len()));
}

/** Why it broke. */
export function why(machine) {
  return machine.why;
}

/** The questions since this was called last: number, kind and frame in turn. */
export function asks(machine) {
  return machine.asks.splice(0);
}

/** Forgets the questions. */
export function forgetAsks(machine) {
  machine.asks.length = 0;
}

/** What is left of the fuel. */
export function fuel(machine) {
  return machine.exports.fuel.value;
}

/** The memory as it is. What is below the stack's top is rubbish, and not kept. */
export function image(machine) {
  const { __stack_pointer, top } = machine.exports;
  const end = machine.spared(() => top() >>> 0);
  return { from: __stack_pointer.value, bytes: machine.read(__stack_pointer.value, end - __stack_pointer.value) };
}

/** How many bytes the memory of an image takes. */
export function size({ from, bytes }) {
  return from + bytes.length;
}

/** Puts an image back: after it nothing of an earlier call is there. */
export function restore(machine, { from, bytes }) {
  const end = from + bytes.length;
  let had = machine.memory.buffer.byteLength;
  let top = had;
  if (had > end + MAX_KEPT_GROWTH) {
    machine.start();
    had = top = machine.memory.buffer.byteLength;
  } else if (had > end) {
    // Beyond the end of the heap nothing was ever written.
    top = machine.spared(() => machine.exports.top() >>> 0);
  }
  if (had < end) machine.memory.grow((end - had + 0xffff) >>> 16);
  const memory = new Uint8Array(machine.memory.buffer);
  memory.set(bytes, from);
  if (top > end) memory.fill(0, end, top);
  machine.exports.__stack_pointer.value = from;
  machine.asks.length = 0;
}
