#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace ringside::oracle {

/// A summary of one part of an answer that suffices to decide whether another answer is the same.
///
/// Numbers that count something and words enter a hash, together with the shape of the document: any difference
/// changes it. Measured values enter a sum, each weighted by its place and on a scale on which a relative difference
/// of 0.1 % is 0.001 everywhere except near 0. So an answer whose last digits another processor computes differently
/// is still the same, and one with a larger error or with two values exchanged is not.
struct Digest {
  std::uint64_t values = 0;  ///< numbers and words
  std::uint32_t words = 0;   ///< FNV-1a, folded to 32 bits
  double measures = 0;
};

Digest digest_of(const Json& part);

bool is_same(const Digest& a, const Digest& b);

/// Converts to and from text like `1193:9f1c2a33:812.3324`; throws if the text is not a digest.
std::string to_text(const Digest& digest);
Digest parse_digest(std::string_view text);

}  // namespace ringside::oracle
