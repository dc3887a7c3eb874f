// The comparisons of bytes that reading logs spends its time in, 16 at a time: wasi-libc's go byte by byte.
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

int memcmp(const void* left, const void* right, size_t size) {
  const uint8_t* a = left;
  const uint8_t* b = right;
  for (; size >= 16; a += 16, b += 16, size -= 16) {
    const uint32_t same = wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(a), wasm_v128_load(b)));
    if (same != 0xffff) {
      const int at = __builtin_ctz(~same);
      return a[at] - b[at];
    }
  }
  for (; size > 0; ++a, ++b, --size) {
    if (*a != *b) return *a - *b;
  }
  return 0;
}
