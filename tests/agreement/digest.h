#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace ringside::oracle {

/// What is left of one part of an answer: enough to say whether another answer is the same.
///
/// Numbers that count and words go into a hash, with the shape of the document: one that differs changes it. Measures
/// go into a sum, each with a weight by its place and on a scale on which a difference of 0.1 % is 0.001 everywhere but
/// near 0; so an answer that another processor computes in another last digit is still the same, one that is off by that
/// much or has two of them exchanged is not.
struct Digest {
  std::uint64_t values = 0;  ///< numbers and words
  std::uint32_t words = 0;   ///< FNV-1a, folded to 32 bits
  double measures = 0;
};

Digest digest_of(const Json& part);

bool is_same(const Digest& a, const Digest& b);

/// `1193:9f1c2a33:812.3324`, and back; throws where the text is none.
std::string to_text(const Digest& digest);
Digest parse_digest(std::string_view text);

}  // namespace ringside::oracle
