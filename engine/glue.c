// What stands between the engine QuickJS-ng and its host: a few exports, a few imports, and bytes in a linear memory.
//
// Nothing else crosses. A message is a `frame`: the length of its head in four bytes (the lowest first), the head, and a tail. The head is
// text, the tail is bytes; the highest bit of the length says that there is a tail, which may be empty.
//
// Everything that the engine knows lies in the linear memory, the end of its heap included: whoever copies that and `__stack_pointer` has
// the whole state, and may put it back at any time, also after a trap.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(name) __attribute__((import_module("host"), import_name(name)))

// Asks for something that takes time. `settle` answers it.
IMPORT("ask") void host_ask(int id, int kind, const char *frame, int length);
// Says something, and takes the answer: the length of its frame, which `host_reply` copies, or -1 for none.
IMPORT("say") int host_say(int kind, const char *frame, int length);
IMPORT("reply") void host_reply(char *into);
// Milliseconds since the Unix epoch.
IMPORT("clock") double host_clock(void);
IMPORT("random") void host_random(void *into, int length);
// There is no fuel. The host sets `fuel` anew, or says that there is no more: 0.
IMPORT("more") int host_more(void);
// The heap is to end there. The host says whether it may: 0 is no.
IMPORT("grow") int host_grow(unsigned long end);

enum { DONE = 0, THREW = 1, WAITS = 2 };

#define HAS_TAIL 0x80000000u
#define MAX_REJECTIONS 16384
#define JOBS_PER_TURN 10000
// What of the heap is kept back for the error that says that it is full.
#define RESERVE (256 << 10)

// What crosses costs the host time: units of fuel for each crossing, for so many bytes of a message, and for each byte that it computes with.
#define CROSSING 500
#define CLOCK 100
#define MESSAGE_BYTES 4
#define RANDOM_BYTES_SHARE 4
// Fractions that are taken at a time.
#define RANDOM_STORE 64

static JSRuntime *runtime;
static JSContext *context;

// What the prelude returned: `load(meta, value)`, `enter(message, bytes)`, `settle(id, answered, message, bytes)`, `poll(is_busy)`.
static JSValue load_function, enter_function, settle_function, poll_function;

// What the prelude wants to be called where a script takes the time; else undefined.
static JSValue clock_function;

// Whether what runs is left of a script that has ended: nobody answers it.
static bool is_muted;

// What the last export left. Read by the host.
char *out;
size_t out_length;

static int last_ask;

// Promises that were rejected and have no handler, in the order in which they were.
static struct { JSValue promise, reason; } *rejections;
static unsigned rejections_length, rejections_room, rejections_handled, rejections_more;

// fuel and depth: see engine/counters, which writes what `charge` and `position` do

// Called where there is no fuel.
EXPORT("refuel") void refuel(void) {
  if (!host_more()) __builtin_trap();
}

EXPORT("charge") __attribute__((noinline)) void charge(unsigned units) { __asm__ volatile("" ::"r"(units)); }

EXPORT("position") __attribute__((noinline)) unsigned long position(void) {
  unsigned long at = 0;
  __asm__ volatile("" : "+r"(at));
  return at;
}

// memory

extern char __heap_end;
// Read by the host.
char *heap_top = &__heap_end;
static unsigned long heap_limit;
// Up to where the host has said that it may.
static unsigned long heap_granted;

// The end of the heap is data, so it is part of an image; and a memory that has grown is used again after an image was put back.
void *sbrk(intptr_t more) {
  char *before = heap_top;
  if (more == 0) return before;
  unsigned long need = (unsigned long)before + (unsigned long)more, have = __builtin_wasm_memory_size(0) << 16;
  if (need < (unsigned long)before || need > heap_limit) return (void *)-1;
  unsigned long end = (need + 0xffff) & ~0xfffful;
  if (need > heap_granted) {
    if (!host_grow(end)) return (void *)-1;
    heap_granted = end;
  }
  if (need > have && __builtin_wasm_memory_grow(0, (end - have) >> 16) == (unsigned long)-1) return (void *)-1;
  heap_top = before + more;
  return before;
}

static void *reserve;

// The engine's request is refused, and there is room for the error that says so.
static void *given(void *made) {
  if (made) return made;
  free(reserve);
  reserve = NULL;
  return NULL;
}

static void *js_calloc_(void *opaque, size_t count, size_t size) { return given(calloc(count, size)); }
static void *js_malloc_(void *opaque, size_t size) { return given(malloc(size)); }
static void js_free_(void *opaque, void *made) { free(made); }
static void *js_realloc_(void *opaque, void *made, size_t size) { return given(realloc(made, size)); }
size_t malloc_usable_size(void *);
static size_t usable_size(const void *made) { return malloc_usable_size((void *)made); }

static const JSMallocFunctions allocator = {js_calloc_, js_malloc_, js_free_, js_realloc_, usable_size};

// One byte more than asked for: what parses text wants a zero behind it.
EXPORT("alloc") char *alloc(int length) {
  char *made = length < 0 ? NULL : malloc((size_t)length + 1);
  if (made) made[length] = 0;
  return made;
}

// The clock behind `Date` and `performance`: see wasm-shim/shim.c of rquickjs-sys.
double __rquickjs_host_now_us(void) {
  JSValue watcher = clock_function;
  if (!JS_IsUndefined(watcher)) {
    clock_function = JS_UNDEFINED;
    JSValue told = JS_Call(context, watcher, JS_UNDEFINED, 0, NULL);
    JS_FreeValue(context, JS_IsException(told) ? JS_GetException(context) : told);
    clock_function = watcher;
  }
  charge(CLOCK);
  return host_clock() * 1000;
}

// out

static void forget_out(void) {
  free(out);
  out = NULL;
  out_length = 0;
}

// Without any memory left there is still something to say.
static void keep_plain(const char *text) {
  forget_out();
  size_t length = strlen(text);
  out = malloc(length);
  if (!out) return;
  memcpy(out, text, length);
  out_length = length;
}

// Whether what was thrown is the engine's own error of a heap that is full. Without room for an error it throws null.
static bool is_of_memory(JSValueConst error) {
  if (JS_IsNull(error)) return !reserve;
  if (!JS_IsError(error)) return false;
  JSValue text = JS_GetPropertyStr(context, error, "message");
  if (JS_IsException(text)) JS_FreeValue(context, JS_GetException(context));
  const char *words = JS_IsString(text) ? JS_ToCString(context, text) : NULL;
  bool is = words && strcmp(words, "out of memory") == 0;
  if (words) JS_FreeCString(context, words);
  JS_FreeValue(context, text);
  return is;
}

// What a getter or `toString` of a script has thrown while we asked is not what we are asked for. True: there is no memory left.
static bool take_thrown(void) {
  JSValue error = JS_GetException(context);
  bool is = is_of_memory(error);
  JS_FreeValue(context, error);
  return is;
}

// Leaves what a function threw: `{ message, stack?, limit? }` as JSON, where `limit` is the one that the engine itself ran into.
static int threw(void) {
  JSValue error = JS_GetException(context);
  size_t length;
  const char *text = NULL;
  JSValue message = JS_UNDEFINED, stack = JS_UNDEFINED, json = JS_UNDEFINED;
  // The engine throws null where it has no room for an error.
  if (!reserve && JS_IsNull(error)) {
    keep_plain("{\"message\":\"InternalError: out of memory\",\"limit\":\"memory\"}");
    return THREW;
  }
  JSValue told = JS_NewObject(context);
  if (JS_IsException(told)) goto poor;
  message = JS_ToString(context, error);
  if (JS_IsException(message)) {
    if (take_thrown()) goto full;
    message = JS_NewString(context, "an error that has no text");
    if (JS_IsException(message)) goto poor;
  }
  const char *words = JS_ToCString(context, message);
  if (!words) goto poor;
  const char *limit = NULL;
  if (JS_IsError(error) && strcmp(words, "InternalError: out of memory") == 0) limit = "memory";
  if (JS_IsError(error) && strcmp(words, "RangeError: Maximum call stack size exceeded") == 0) limit = "stack";
  JS_FreeCString(context, words);
  if (JS_SetPropertyStr(context, told, "message", JS_DupValue(context, message)) < 0) goto poor;
  if (limit && JS_SetPropertyStr(context, told, "limit", JS_NewString(context, limit)) < 0) goto poor;
  if (JS_IsError(error)) {
    stack = JS_GetPropertyStr(context, error, "stack");
    if (JS_IsException(stack) && take_thrown()) goto full;
    if (JS_IsString(stack) && JS_SetPropertyStr(context, told, "stack", JS_DupValue(context, stack)) < 0) goto poor;
  }
  json = JS_JSONStringify(context, told, JS_UNDEFINED, JS_UNDEFINED);
  if (JS_IsException(json)) goto poor;
  text = JS_ToCStringLen(context, &length, json);
  if (!text) goto poor;
  forget_out();
  out = malloc(length);
  if (!out) goto poor;
  memcpy(out, text, length);
  out_length = length;
  goto end;
poor:
  JS_FreeValue(context, JS_GetException(context));
full:
  keep_plain("{\"message\":\"InternalError: out of memory\",\"limit\":\"memory\"}");
end:
  if (text) JS_FreeCString(context, text);
  JS_FreeValue(context, told);
  JS_FreeValue(context, message);
  JS_FreeValue(context, stack);
  JS_FreeValue(context, json);
  JS_FreeValue(context, error);
  return THREW;
}

// frames

static uint32_t read_u32(const char *from) {
  const unsigned char *byte = (const unsigned char *)from;
  return byte[0] | byte[1] << 8 | byte[2] << 16 | (uint32_t)byte[3] << 24;
}

// Parts of a frame. The frame stays its owner's.
typedef struct {
  char *head, *tail;
  size_t head_length, tail_length;
  bool has_tail;
} Frame;

static bool open_frame(char *frame, size_t length, Frame *parts) {
  if (length < 4) return false;
  uint32_t word = read_u32(frame);
  size_t head = word & ~HAS_TAIL;
  if (head > length - 4) return false;
  *parts = (Frame){frame + 4, frame + 4 + head, head, length - 4 - head, (word & HAS_TAIL) != 0};
  return true;
}

static JSValue tail_value(const Frame *parts) {
  return parts->has_tail ? JS_NewUint8ArrayCopy(context, (const uint8_t *)parts->tail, parts->tail_length) : JS_UNDEFINED;
}

// The head as JSON, with the tail moved out of the way: a parser wants a zero behind its text.
static JSValue head_value(const Frame *parts) {
  char first = *parts->tail;
  *parts->tail = 0;
  JSValue value = JS_ParseJSON(context, parts->head, parts->head_length, "<message>");
  *parts->tail = first;
  return value;
}

// `(kind, text, bytes?)` from `argv`, as a frame that the caller frees. NULL: an exception.
static char *make_frame(JSContext *c, int argc, JSValueConst *argv, size_t *length) {
  size_t head_length, tail_length = 0;
  const char *head = JS_ToCStringLen(c, &head_length, argv[1]);
  if (!head) return NULL;
  uint8_t *tail = NULL;
  bool has_tail = argc > 2 && !JS_IsUndefined(argv[2]);
  if (has_tail) {
    tail = JS_GetUint8Array(c, &tail_length, argv[2]);
    if (!tail && JS_HasException(c)) {
      JS_FreeCString(c, head);
      return NULL;
    }
  }
  char *frame = NULL;
  if (head_length < HAS_TAIL && tail_length < HAS_TAIL && (frame = malloc(4 + head_length + tail_length))) {
    uint32_t word = (uint32_t)head_length | (has_tail ? HAS_TAIL : 0);
    memcpy(frame, &word, 4);
    memcpy(frame + 4, head, head_length);
    if (tail_length) memcpy(frame + 4 + head_length, tail, tail_length);
    *length = 4 + head_length + tail_length;
  } else {
    JS_ThrowOutOfMemory(c);
  }
  JS_FreeCString(c, head);
  return frame;
}

// what the prelude gets

static bool refuses(JSContext *c) {
  if (is_muted) JS_ThrowTypeError(c, "the script has ended");
  return is_muted;
}

// `ask(kind, text, bytes?)`: the number under which it is answered.
static JSValue native_ask(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  int kind;
  size_t length;
  if (refuses(c) || JS_ToInt32(c, &kind, argv[0])) return JS_EXCEPTION;
  char *frame = make_frame(c, argc, argv, &length);
  if (!frame) return JS_EXCEPTION;
  int id = ++last_ask;
  charge(CROSSING + (unsigned)length / MESSAGE_BYTES);
  host_ask(id, kind, frame, (int)length);
  free(frame);
  return JS_NewInt32(c, id);
}

// `say(kind, text, bytes?)`: undefined, the value of the answer, or where it has a tail `[value, bytes]`.
static JSValue native_say(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  int kind;
  size_t length;
  if (refuses(c) || JS_ToInt32(c, &kind, argv[0])) return JS_EXCEPTION;
  char *frame = make_frame(c, argc, argv, &length);
  if (!frame) return JS_EXCEPTION;
  // A digest is of each byte.
  charge(CROSSING + (unsigned)length);
  int answer_length = host_say(kind, frame, (int)length);
  free(frame);
  if (answer_length < 0) return JS_UNDEFINED;
  char *answer = alloc(answer_length);
  if (!answer) return JS_ThrowOutOfMemory(c);
  host_reply(answer);
  Frame parts;
  JSValue value = open_frame(answer, (size_t)answer_length, &parts) ? head_value(&parts) : JS_ThrowInternalError(c, "the answer is no frame");
  if (!JS_IsException(value) && parts.has_tail) {
    JSValue pair[2] = {value, tail_value(&parts)};
    value = JS_IsException(pair[1]) ? (JS_FreeValue(c, value), JS_EXCEPTION) : JS_NewArrayFrom(c, 2, pair);
  }
  free(answer);
  return value;
}

// `clock()`
static JSValue native_clock(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  charge(CLOCK);
  return JS_NewFloat64(c, host_clock());
}

// `random(bytes)`: fills them.
static JSValue native_random(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  uint8_t *bytes = JS_GetUint8Array(c, &length, argv[0]);
  if (!bytes) return JS_HasException(c) ? JS_EXCEPTION : JS_UNDEFINED;
  charge(CROSSING + (unsigned)length / RANDOM_BYTES_SHARE);
  host_random(bytes, (int)length);
  return JS_UNDEFINED;
}

// `fraction()`: 53 random bits, from zero to below one.
static JSValue native_fraction(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  // Some at a time: to cross for each would cost more than the number. Zero in an image.
  static uint64_t store[RANDOM_STORE];
  static unsigned left;
  if (!left) {
    charge(CROSSING);
    host_random(store, sizeof store);
    left = RANDOM_STORE;
  }
  return JS_NewFloat64(c, (double)(store[--left] & ((1ull << 53) - 1)) / (double)(1ull << 53));
}

// `encode(text)`: its bytes as UTF-8. The caller sees to lone surrogates.
static JSValue native_encode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  const char *text = JS_ToCStringLen(c, &length, argv[0]);
  if (!text) return JS_EXCEPTION;
  JSValue bytes = JS_NewUint8ArrayCopy(c, (const uint8_t *)text, length);
  JS_FreeCString(c, text);
  return bytes;
}

// `utf8_length(text)`: how many bytes that is.
static JSValue native_utf8_length(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  const char *text = JS_ToCStringLen(c, &length, argv[0]);
  if (!text) return JS_EXCEPTION;
  JS_FreeCString(c, text);
  return JS_NewFloat64(c, (double)length);
}

// How many bytes at `at` are one character, or, as the standard Encoding counts them, one that is not: then `is_whole` is false.
static size_t character(const uint8_t *at, size_t left, bool *is_whole) {
  uint8_t first = at[0], low = 0x80, high = 0xbf;
  size_t need = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  *is_whole = need == 1;
  if (need < 2) return 1;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  for (size_t length = 1; length < need; length++) {
    if (length == left || at[length] < low || at[length] > high) return length;
    low = 0x80;
    high = 0xbf;
  }
  *is_whole = true;
  return need;
}

// How many bytes from `at` on are ASCII.
static size_t plain_length(const uint8_t *at, size_t left) {
  size_t length = 0;
  for (uint64_t word; length + sizeof word <= left; length += sizeof word) {
    memcpy(&word, at + length, sizeof word);
    if (word & 0x8080808080808080ull) break;
  }
  while (length < left && at[length] < 0x80) length++;
  return length;
}

// `decode(bytes, is_fatal)`: the text of UTF-8, with U+FFFD for each sequence that is none; where that is fatal, undefined.
static JSValue native_decode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd};
  size_t length, at = 0, wrong = 0;
  const uint8_t *bytes = JS_GetUint8Array(c, &length, argv[0]);
  if (!bytes && JS_HasException(c)) return JS_EXCEPTION;
  bool is_whole;
  while ((at += plain_length(bytes + at, length - at)) < length) {
    at += character(bytes + at, length - at, &is_whole);
    wrong += !is_whole;
  }
  if (!wrong) return JS_NewStringLen(c, (const char *)bytes, length);
  if (JS_ToBool(c, argv[1])) return JS_UNDEFINED;
  uint8_t *text = wrong < (INT32_MAX - length) / sizeof replacement ? malloc(length + wrong * sizeof replacement) : NULL;
  if (!text) return JS_ThrowOutOfMemory(c);
  size_t end = 0;
  for (at = 0; at < length;) {
    size_t plain = plain_length(bytes + at, length - at);
    if (plain) memcpy(text + end, bytes + at, plain);
    at += plain;
    end += plain;
    if (at == length) break;
    size_t step = character(bytes + at, length - at, &is_whole);
    memcpy(text + end, is_whole ? bytes + at : replacement, is_whole ? step : sizeof replacement);
    end += is_whole ? step : sizeof replacement;
    at += step;
  }
  JSValue made = JS_NewStringLen(c, (const char *)text, end);
  free(text);
  return made;
}

// `class_of(value)`: what an object was made as, whatever its prototype is now.
static JSValue native_class_of(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  if (!JS_IsObject(argv[0])) return JS_UNDEFINED;
  if (JS_IsProxy(argv[0])) return JS_NewString(c, "Proxy");
  JSAtom name = JS_GetClassName(runtime, JS_GetClassID(argv[0]));
  if (name == JS_ATOM_NULL) return JS_UNDEFINED;
  JSValue text = JS_AtomToString(c, name);
  JS_FreeAtom(c, name);
  return text;
}

static bool is_of(unsigned at, JSValueConst promise) {
  return at < rejections_length && !JS_IsUndefined(rejections[at].promise) && JS_VALUE_GET_PTR(rejections[at].promise) == JS_VALUE_GET_PTR(promise);
}

// Leaves out what was handled.
static void compact_rejections(void) {
  unsigned kept = 0;
  for (unsigned at = 0; at < rejections_length; at++) {
    if (!JS_IsUndefined(rejections[at].promise)) rejections[kept++] = rejections[at];
  }
  rejections_length = kept;
  rejections_handled = 0;
}

// `unhandled()`: `[reason]` of the promise that was rejected first of those without a handler; how many more there were than are kept; or
// undefined.
static JSValue native_unhandled(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  compact_rejections();
  if (rejections_length) {
    JSValue reason = JS_DupValue(c, rejections[0].reason);
    return JS_NewArrayFrom(c, 1, &reason);
  }
  return rejections_more ? JS_NewUint32(c, rejections_more) : JS_UNDEFINED;
}

// `forget()`: what was rejected so far is nobody's business any more.
static JSValue native_forget(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  for (unsigned at = 0; at < rejections_length; at++) {
    JS_FreeValue(c, rejections[at].promise);
    JS_FreeValue(c, rejections[at].reason);
  }
  rejections_length = rejections_handled = rejections_more = 0;
  return JS_UNDEFINED;
}

// `on_clock(watcher)`: calls it wherever a script takes the time.
static JSValue native_on_clock(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  JS_FreeValue(c, clock_function);
  clock_function = JS_DupValue(c, argv[0]);
  return JS_UNDEFINED;
}

// `reason_of(promise)`: `[reason]` of one that was rejected; else undefined.
static JSValue native_reason_of(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  if (!JS_IsPromise(argv[0]) || JS_PromiseState(c, argv[0]) != JS_PROMISE_REJECTED) return JS_UNDEFINED;
  JSValue reason = JS_PromiseResult(c, argv[0]);
  return JS_NewArrayFrom(c, 1, &reason);
}

static void on_rejection(JSContext *c, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
  static unsigned last_handled;
  if (!is_handled) {
    if (rejections_length == rejections_room) {
      if (rejections_handled && rejections_handled * 2 >= rejections_length) {
        compact_rejections();
      } else {
        unsigned room = rejections_room ? rejections_room * 2 : 16;
        void *grown = room > MAX_REJECTIONS ? NULL : realloc(rejections, room * sizeof *rejections);
        if (!grown) {
          rejections_more++;
          return;
        }
        rejections = grown;
        rejections_room = room;
      }
    }
    rejections[rejections_length].promise = JS_DupValue(c, promise);
    rejections[rejections_length++].reason = JS_DupValue(c, reason);
    return;
  }
  // Most are handled soon, or in the order in which they were rejected.
  unsigned at = last_handled + 1;
  if (!is_of(at, promise)) {
    for (at = rejections_length; at-- > 0 && !is_of(at, promise);) {}
  }
  if (at >= rejections_length) {
    if (rejections_more) rejections_more--;
    return;
  }
  JS_FreeValue(c, rejections[at].promise);
  JS_FreeValue(c, rejections[at].reason);
  rejections[at].promise = rejections[at].reason = JS_UNDEFINED;
  rejections_handled++;
  last_handled = at;
  for (; rejections_length && JS_IsUndefined(rejections[rejections_length - 1].promise); rejections_length--) rejections_handled--;
}

static JSValue natives(void) {
  static const JSCFunctionListEntry functions[] = {
      JS_CFUNC_DEF("ask", 3, native_ask),           JS_CFUNC_DEF("say", 3, native_say),
      JS_CFUNC_DEF("clock", 0, native_clock),       JS_CFUNC_DEF("random", 1, native_random),
      JS_CFUNC_DEF("fraction", 0, native_fraction), JS_CFUNC_DEF("encode", 1, native_encode),
      JS_CFUNC_DEF("class_of", 1, native_class_of), JS_CFUNC_DEF("unhandled", 0, native_unhandled),
      JS_CFUNC_DEF("decode", 2, native_decode),     JS_CFUNC_DEF("reason_of", 1, native_reason_of),
      JS_CFUNC_DEF("forget", 0, native_forget),     JS_CFUNC_DEF("on_clock", 1, native_on_clock),
      JS_CFUNC_DEF("utf8_length", 1, native_utf8_length),
  };
  JSValue object = JS_NewObjectProto(context, JS_NULL);
  if (!JS_IsException(object) && JS_SetPropertyFunctionList(context, object, functions, sizeof functions / sizeof *functions)) {
    JS_FreeValue(context, object);
    return JS_EXCEPTION;
  }
  return object;
}

// entries

// Called by name, so that the linker does not put a call to it around each export.
void __wasm_call_ctors(void);

EXPORT("init") void init(unsigned heap_end, unsigned stack_bytes) {
  __wasm_call_ctors();
  heap_limit = heap_end;
  load_function = enter_function = settle_function = poll_function = clock_function = JS_UNDEFINED;
  reserve = malloc(RESERVE);
  runtime = JS_NewRuntime2(&allocator, NULL);
  JS_SetMaxStackSize(runtime, stack_bytes);
  JS_SetHostPromiseRejectionTracker(runtime, on_rejection, NULL);
  context = JS_NewContext(runtime);
}

// Runs what is ready, and asks the prelude whether the call is done; at the latest after so many jobs, so that it knows of those that never end.
static int progress(void) {
  for (;;) {
    JSContext *c;
    int ran = 1;
    for (int jobs = 0; jobs < JOBS_PER_TURN && (ran = JS_ExecutePendingJob(runtime, &c)) > 0; jobs++) {}
    if (ran < 0) return threw();
    JSValue is_busy = JS_NewBool(context, ran > 0);
    JSValue polled = JS_Call(context, poll_function, JS_UNDEFINED, 1, (JSValueConst *)&is_busy);
    if (JS_IsException(polled)) return threw();
    if (JS_IsUndefined(polled)) return WAITS;
    // Neither waiting nor done: there may be more that is ready.
    if (JS_IsBool(polled)) continue;
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, polled);
    JS_FreeValue(context, polled);
    if (!text) return threw();
    forget_out();
    out = malloc(length ? length : 1);
    if (out) {
      memcpy(out, text, length);
      out_length = length;
    }
    JS_FreeCString(context, text);
    if (!out) {
      JS_ThrowOutOfMemory(context);
      return threw();
    }
    return DONE;
  }
}

static JSValue take_prelude(JSValueConst prelude) {
  JSValue given = natives();
  if (JS_IsException(given)) return given;
  JSValue functions = JS_Call(context, prelude, JS_UNDEFINED, 1, (JSValueConst *)&given);
  JS_FreeValue(context, given);
  if (JS_IsException(functions)) return functions;
  load_function = JS_GetPropertyStr(context, functions, "load");
  enter_function = JS_GetPropertyStr(context, functions, "enter");
  settle_function = JS_GetPropertyStr(context, functions, "settle");
  poll_function = JS_GetPropertyStr(context, functions, "poll");
  return functions;
}

// Evaluates a script: the tail of the frame is its source, the head `{ path, … }`. The first one is the prelude, a function that takes the
// natives; what every other one comes to is handed to the prelude's `load`, with the head, and what is ready then runs. The heap may end at
// `heap_end`.
EXPORT("eval") int eval(char *frame, int length, unsigned heap_end) {
  heap_limit = heap_end;
  Frame parts;
  if (!open_frame(frame, (size_t)length, &parts)) {
    JS_ThrowInternalError(context, "the script is no frame");
    return threw();
  }
  JSValue meta = head_value(&parts), path = JS_UNDEFINED, value = JS_EXCEPTION, taken = JS_EXCEPTION;
  if (!JS_IsException(meta)) path = JS_GetPropertyStr(context, meta, "path");
  const char *name = JS_IsException(meta) || JS_IsException(path) ? NULL : JS_ToCString(context, path);
  // Its end has the zero of `alloc`.
  if (name) value = JS_Eval(context, parts.tail, parts.tail_length, name, JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
  if (name) JS_FreeCString(context, name);
  free(frame);
  bool is_prelude = JS_IsUndefined(enter_function);
  if (!JS_IsException(value)) {
    if (is_prelude) {
      taken = take_prelude(value);
    } else {
      JSValueConst arguments[2] = {meta, value};
      taken = JS_Call(context, load_function, JS_UNDEFINED, 2, arguments);
    }
  }
  JS_FreeValue(context, meta);
  JS_FreeValue(context, path);
  JS_FreeValue(context, value);
  if (JS_IsException(taken)) return threw();
  JS_FreeValue(context, taken);
  forget_out();
  return is_prelude ? DONE : progress();
}

// Begins a call, whose heap may end at `heap_end`.
EXPORT("call") int call(char *frame, int length, unsigned heap_end) {
  heap_limit = heap_end;
  Frame parts;
  if (!open_frame(frame, (size_t)length, &parts)) {
    JS_ThrowInternalError(context, "the message is no frame");
    return threw();
  }
  JSValue arguments[2] = {head_value(&parts), tail_value(&parts)};
  free(frame);
  if (JS_IsException(arguments[0]) || JS_IsException(arguments[1])) return threw();
  JSValue entered = JS_Call(context, enter_function, JS_UNDEFINED, 2, (JSValueConst *)arguments);
  JS_FreeValue(context, arguments[0]);
  JS_FreeValue(context, arguments[1]);
  if (JS_IsException(entered)) return threw();
  JS_FreeValue(context, entered);
  return progress();
}

// Runs what a script that has ended left to be done, without a host. Zero: there is more of it than that.
EXPORT("drain") int drain(void) {
  JSContext *c;
  int ran = 1;
  is_muted = true;
  for (int jobs = 0; jobs < JOBS_PER_TURN && (ran = JS_ExecutePendingJob(runtime, &c)); jobs++) {
    if (ran < 0) JS_FreeValue(c, JS_GetException(c));
  }
  is_muted = false;
  return ran == 0;
}

// Answers what was asked under a number.
EXPORT("settle") int settle(int id, int answered, char *frame, int length) {
  Frame parts;
  if (!open_frame(frame, (size_t)length, &parts)) {
    JS_ThrowInternalError(context, "the answer is no frame");
    return threw();
  }
  JSValue arguments[4] = {JS_NewInt32(context, id), JS_NewBool(context, answered), head_value(&parts), tail_value(&parts)};
  free(frame);
  if (JS_IsException(arguments[2]) || JS_IsException(arguments[3])) return threw();
  JSValue settled = JS_Call(context, settle_function, JS_UNDEFINED, 4, (JSValueConst *)arguments);
  JS_FreeValue(context, arguments[2]);
  JS_FreeValue(context, arguments[3]);
  if (JS_IsException(settled)) return threw();
  JS_FreeValue(context, settled);
  return progress();
}
