#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace ringside {
namespace {

/// A word of other programs, and ringside's word for it.
struct Alias {
  std::string_view word, ours;
};

/// A word with several meanings has several rows: the first row whose meaning is a known word applies. Case is ignored
/// unless a row differs in it: a B is a byte, a b is a bit.
constexpr std::array kAliases{
    // PyTorch, CUDA and NCCL for nccl-tests' data types
    Alias{"f16", "half"}, Alias{"fp16", "half"}, Alias{"float16", "half"},
    Alias{"bf16", "bfloat16"}, Alias{"f32", "float"}, Alias{"fp32", "float"},
    Alias{"float32", "float"}, Alias{"f64", "double"}, Alias{"fp64", "double"},
    Alias{"float64", "double"}, Alias{"e4m3", "f8e4m3"}, Alias{"float8_e4m3", "f8e4m3"},
    Alias{"float8_e4m3fn", "f8e4m3"}, Alias{"e5m2", "f8e5m2"}, Alias{"float8_e5m2", "f8e5m2"},
    Alias{"char", "int8"}, Alias{"byte", "uint8"}, Alias{"int", "int32"}, Alias{"uint", "uint32"},
    Alias{"long", "int64"}, Alias{"bfloat", "bfloat16"}, Alias{"fp8", "f8e4m3"},
    Alias{"fp8_e4m3", "f8e4m3"}, Alias{"fp8_e5m2", "f8e5m2"}, Alias{"i8", "int8"},
    Alias{"u8", "uint8"}, Alias{"i32", "int32"}, Alias{"u32", "uint32"}, Alias{"i64", "int64"},
    Alias{"u64", "uint64"},
    // reductions
    Alias{"add", "sum"}, Alias{"average", "avg"}, Alias{"mean", "avg"}, Alias{"product", "prod"},
    Alias{"mul", "prod"}, Alias{"maximum", "max"}, Alias{"minimum", "min"},
    // MPI's names of collectives, and short ones
    Alias{"bcast", "broadcast"}, Alias{"all2all", "all_to_all"}, Alias{"a2a", "all_to_all"},
    Alias{"p2p", "send_recv"}, Alias{"allgatherv", "all_gather_v"},
    // networks
    Alias{"infiniband", "ib"}, Alias{"infiniband", "rdma"}, Alias{"ib", "rdma"},
    Alias{"roce", "rdma"}, Alias{"verbs", "rdma"}, Alias{"socket", "tcp"}, Alias{"sockets", "tcp"},
    Alias{"ethernet", "tcp"},
    // units
    Alias{"sec", "s"}, Alias{"seconds", "s"}, Alias{"minutes", "min"}, Alias{"hours", "h"},
    Alias{"Kb/s", "Kbit/s"}, Alias{"Mb/s", "Mbit/s"}, Alias{"Gb/s", "Gbit/s"},
    Alias{"Tb/s", "Tbit/s"}, Alias{"KBps", "KB/s"}, Alias{"MBps", "MB/s"}, Alias{"GBps", "GB/s"},
    Alias{"TBps", "TB/s"}, Alias{"kbps", "Kbit/s"}, Alias{"mbps", "Mbit/s"},
    Alias{"gbps", "Gbit/s"}, Alias{"tbps", "Tbit/s"},
    // keys of files
    Alias{"speed", "rate"}, Alias{"bandwidth", "rate"}, Alias{"bw", "rate"}, Alias{"type", "is"},
    Alias{"kind", "is"}, Alias{"oversub", "oversubscription"}, Alias{"hosts", "nodes"},
    Alias{"preset", "like"}, Alias{"nic", "nics"}, Alias{"protocol", "link"},
    Alias{"transport", "link"}, Alias{"network", "link"}, Alias{"numa_node", "numa"}};

bool is_known(std::string_view word, std::span<const std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

/// Returns ringside's word for an alias, as written in the table; empty if no row's meaning is a known word.
std::string_view meaning_of(std::string_view word, std::span<const std::string_view> known) {
  for (const Alias& alias : kAliases) {
    if (alias.word == word && is_known(alias.ours, known)) return alias.ours;
  }
  return {};
}

/// Returns the runs of letters and digits, in lower case: `hgx-h200` has two.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      parts.back() += c;
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

/// How similar a known word is to the typed word; smaller is more similar.
struct Nearness {
  enum class By { Case, Part, FewEdits, Beginning, Edits };
  By by = By::Edits;
  int edits = 0;
  int unshared = 0;  ///< letters of the known word in parts that the typed word does not have
  friend auto operator<=>(const Nearness&, const Nearness&) = default;
};

class Typed {
 public:
  explicit Typed(std::string_view word)
      : word_(word), lower_(lower_case(word)), parts_(parts_of(word)) {}

  [[nodiscard]] std::optional<Nearness> nearness_of(std::string_view known) const {
    const std::vector<std::string> parts = parts_of(known);
    Nearness near{.edits = edit_distance(word_, known)};
    for (const std::string& part : parts) {
      if (std::ranges::find(parts_, part) == parts_.end())
        near.unshared += static_cast<int>(part.size());
    }
    const auto by = relation_to(known, parts, near.edits);
    if (!by) return {};
    near.by = *by;
    return near;
  }

 private:
  [[nodiscard]] std::optional<Nearness::By> relation_to(std::string_view known,
                                                        const std::vector<std::string>& parts,
                                                        int edits) const {
    constexpr int kFew = 2;
    constexpr std::size_t kLongEnough = 3;  // a shorter common beginning is no evidence
    if (edits == 0) return Nearness::By::Case;
    const bool is_part = std::ranges::search(parts, parts_).begin() != parts.end();
    if (!parts_.empty() && is_part) return Nearness::By::Part;
    // Two edits could change every letter of a word of three letters.
    const int few = word_.size() > 3 ? kFew : 1;
    const int most = std::max(few, static_cast<int>(word_.size()) / 3);
    const bool keeps_a_letter = edits < static_cast<int>(std::max(word_.size(), known.size()));
    if (keeps_a_letter && edits <= few) return Nearness::By::FewEdits;
    const std::string lower = lower_case(known);
    const bool is_beginning = lower.starts_with(lower_) || lower_.starts_with(lower);
    if (is_beginning && std::min(lower.size(), lower_.size()) >= kLongEnough)
      return Nearness::By::Beginning;
    if (keeps_a_letter && edits <= most) return Nearness::By::Edits;
    return {};
  }

  const std::string_view word_;
  const std::string lower_;
  const std::vector<std::string> parts_;
};

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  // Optimal string alignment over three rolling rows: a swap of letters looks two rows back.
  std::vector<int> two_back(b.size() + 1);
  std::vector<int> one_back(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) one_back[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = one_back[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({one_back[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    std::swap(two_back, one_back);
    std::swap(one_back, row);
  }
  return one_back[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (const std::string_view ours = meaning_of(word, known); !ours.empty()) return ours;
  if (const std::string_view ours = meaning_of(lower_case(word), known); !ours.empty()) return ours;
  const Typed typed(word);
  std::string_view best;
  std::optional<Nearness> least;
  for (const std::string_view candidate : known) {
    const std::optional<Nearness> near = typed.nearness_of(candidate);
    if (!near || (least && *least <= *near)) continue;
    least = near;
    best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest_word(word, known);
  const std::string list = fmt::format("known: {}", fmt::join(known, ", "));
  return near.empty() ? list : fmt::format("did you mean '{}'? {}", near, list);
}

}  // namespace ringside
