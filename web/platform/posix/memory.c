// The comparisons of bytes that reading logs spends its time in, 8 or 16 at a time: wasi-libc's go byte by byte.
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

void* memchr(const void* bytes, int wanted, size_t size) {
  const uint8_t* at = bytes;
  const v128_t all = wasm_u8x16_splat((uint8_t)wanted);
  for (; size >= 16; at += 16, size -= 16) {
    const uint32_t found = wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(at), all));
    if (found != 0) return (void*)(at + __builtin_ctz(found));
  }
  for (; size > 0; ++at, --size) {
    if (*at == (uint8_t)wanted) return (void*)at;
  }
  return NULL;
}

static uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, 8);
  return word;
}

// Most texts that are compared are short, and many differ in the first byte.
int memcmp(const void* left, const void* right, size_t size) {
  const uint8_t* a = left;
  const uint8_t* b = right;
  if (size > 0 && *a != *b) return *a - *b;
  for (; size >= 8; a += 8, b += 8, size -= 8) {
    const uint64_t other = word_at(a) ^ word_at(b);
    if (other != 0) {
      const int at = __builtin_ctzll(other) / 8;
      return a[at] - b[at];
    }
  }
  for (; size > 0; ++a, ++b, --size) {
    if (*a != *b) return *a - *b;
  }
  return 0;
}
