#include "diag/hangdetect/verdict/fingerprint.h"

#include <algorithm>
#include <string_view>

namespace ringside::hang {

int dimensions_of(std::string_view shape) {
  const std::string_view list = shape.substr(0, shape.find(']'));
  if (list.find_first_of("0123456789") == std::string_view::npos) return 0;
  return 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
}

std::string fingerprint_part(const std::string& detail, const std::string& key) {
  const std::size_t at = detail.find(key);
  if (at == std::string::npos) return {};
  const std::size_t from = at + key.size();
  const std::size_t next = detail.find(" Tensor", from);
  return detail.substr(from, next == std::string::npos ? next : next - from);
}

std::int64_t fingerprint_sequence(const std::string& detail) {
  constexpr std::string_view kKey = "SequenceNumber=";
  const std::size_t at = detail.find(kKey);
  if (at == std::string::npos) return -1;
  std::int64_t value = 0;
  std::size_t i = at + kKey.size();
  if (i >= detail.size() || detail[i] < '0' || detail[i] > '9') return -1;
  for (; i < detail.size() && detail[i] >= '0' && detail[i] <= '9' && value < (1LL << 40); ++i)
    value = value * 10 + (detail[i] - '0');
  return value;
}

bool is_other_sequence(const std::string& a, const std::string& b) {
  const auto rest = [](const std::string& detail) {
    const std::size_t at = detail.find("OpType=");
    return at == std::string::npos ? std::string() : detail.substr(at);
  };
  return rest(a) == rest(b) && fingerprint_sequence(a) != fingerprint_sequence(b);
}

}  // namespace ringside::hang
