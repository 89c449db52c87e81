// zig passes `-ffreestanding` to clang, with which a copy of four bytes is a call. The engine reads its operands by such copies: without these
// lines it takes twice the time, with the same answers.
#include <math.h>
#include <string.h>
#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
#define ceil __builtin_ceil
#define fabs __builtin_fabs
#define floor __builtin_floor
#define sqrt __builtin_sqrt
#define trunc __builtin_trunc
// Where the engine looks for the end of its stack: see `position` in glue.c.
#define __builtin_frame_address(level) ((void *)position())
unsigned long position(void);
