#pragma once

#include <cstdint>
#include <string_view>

/// FNV-1a with 64 bits: a hash that is the same on every machine and in every release, unlike std::hash.
/// source  Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv/
namespace ringside {

inline constexpr std::uint64_t kFnvBegin = 0xcbf29ce484222325U;

/// Returns the hash with one more value. FNV-1a proper takes bytes; a larger value is taken whole, which is faster and
/// gives another hash.
constexpr std::uint64_t fnv_with(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3U;
}

/// Returns the hash with the bytes of a text.
constexpr std::uint64_t fnv_with(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = fnv_with(hash, static_cast<unsigned char>(c));
  return hash;
}

/// Returns the hash of a text.
constexpr std::uint64_t fnv_of(std::string_view text) { return fnv_with(kFnvBegin, text); }

}  // namespace ringside
