#include "tests/agreement/digest.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fnv.h"
#include "tests/support/answer.h"

namespace ringside::oracle {
namespace {

class Digesting {
 public:
  void add(const Json& value, bool measure) {
    if (value.is_object()) {
      // Ordered by name: the two answers need not list their keys in the same order.
      std::map<std::string, const Json*> members;
      for (const auto& [key, member] : value.items()) members.emplace(key, &member);
      hash("{");
      for (const auto& [key, member] : members) {
        hash(key);
        add(*member, measure || is_measure(key));
      }
      hash("}");
    } else if (value.is_array()) {
      hash("[");
      for (const Json& member : value) add(member, measure);
      hash("]");
    } else {
      ++digest_.values;
      if (measure && value.is_number()) {
        hash("~");
        const double weight = 1 + static_cast<double>(measures_++ % 97) / 97;
        digest_.measures += weight * std::log1p(1000 * value.get<double>());
      } else {
        hash(value.dump());
      }
    }
  }

  [[nodiscard]] Digest result() const {
    Digest digest = digest_;
    digest.words = static_cast<std::uint32_t>(hash_ ^ (hash_ >> 32));
    return digest;
  }

 private:
  /// Adds a text to the hash.
  ///
  /// source  FNV-1a, 64 bits; a byte of 0 ends each word
  void hash(std::string_view text) { hash_ = fnv_with(fnv_with(hash_, text), 0); }

  Digest digest_;
  std::uint64_t hash_ = kFnvBegin;
  std::uint64_t measures_ = 0;
};

}  // namespace

Digest digest_of(const Json& part) {
  Digesting digesting;
  digesting.add(part, false);
  return digesting.result();
}

bool is_same(const Digest& a, const Digest& b) {
  // The values of a file have seven digits, so each is off by up to 3e-7 in either direction; a sum of a hundred
  // thousand is off by about 1e-4.
  constexpr double kRounding = 5e-4;
  return a.values == b.values && a.words == b.words &&
         std::abs(a.measures - b.measures) < kRounding;
}

std::string to_text(const Digest& digest) {
  return fmt::format("{}:{:08x}:{:.4f}", digest.values, digest.words, digest.measures);
}

Digest parse_digest(std::string_view text) {
  unsigned long long values = 0;
  unsigned words = 0;
  double measures = 0;
  if (std::sscanf(std::string(text).c_str(), "%llu:%8x:%lf", &values, &words, &measures) != 3) {
    throw std::runtime_error(fmt::format("'{}' is no digest", text));
  }
  return {.values = values, .words = words, .measures = measures};
}

}  // namespace ringside::oracle
