#include "engine/faults/fault_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "base/vocabulary.h"

namespace ringside {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 40;

Result<std::int64_t> whole(std::string_view text, std::int64_t least, std::int64_t most) {
  RINGSIDE_TRY(const std::int64_t number, parse_int(text));
  if (number >= least && number <= most) return number;
  return Error{ErrorCode::InvalidArgument, fmt::format("{}", number),
               fmt::format("give {} to {}", least, most)};
}

template <typename Field>
Status set_whole(Field& field, std::string_view text, std::int64_t least, std::int64_t most) {
  RINGSIDE_TRY(const std::int64_t number, whole(text, least, most));
  if constexpr (std::is_same_v<Field, std::optional<int>> || std::is_same_v<Field, int>) {
    field = static_cast<int>(number);
  } else if constexpr (std::is_same_v<Field, std::uint64_t>) {
    field = static_cast<std::uint64_t>(number);
  } else {
    field = number;
  }
  return {};
}

/// Longer times are refused, so that no sum of times overflows a clock.
constexpr Seconds kLongestTime{1e6};

Status set_time(std::optional<Seconds>& field, std::string_view text) {
  RINGSIDE_TRY(field, parse_time(text));
  if (*field <= kLongestTime) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("'{}' is too long", text),
               "give 1000000s at most, or a fault that lasts for ever"};
}

template <typename Field, typename T>
Status set_word(Field& field, std::string_view text, Result<T> (*parse)(std::string_view)) {
  RINGSIDE_TRY(field, parse(text));
  return {};
}

/// Sets the name of a communicator, as it appears in dumps and logs.
Status set_name(std::string& field, std::string_view text) {
  constexpr std::string_view kMarks = "_-./:";
  const bool is_name = !text.empty() && text.size() <= 80 && std::ranges::all_of(text, [&](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  });
  if (!is_name) {
    return Error{ErrorCode::InvalidArgument, fmt::format("'{}' names no communicator", text),
                 "give 1 to 80 letters, digits and _-./:"};
  }
  field = text;
  return {};
}

constexpr int kMostRanks = 1 << 20;

/// A key of a fault: the faults that have it, how it is read, and how it is written if it differs from the default.
struct KeyRow {
  std::string_view key;
  bool (*fits)(FaultKind kind);
  Status (*read)(Fault& fault, std::string_view text);
  std::string (*write)(const Fault& fault);
};

constexpr bool is_rank_fault(FaultKind kind) { return !is_link_fault(kind); }
constexpr bool is_any(FaultKind /*kind*/) { return true; }
template <FaultKind... kKinds>
constexpr bool is_one_of(FaultKind kind) {
  return ((kind == kKinds) || ...);
}

template <typename T>
std::string number_or_nothing(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}
template <typename T>
std::string word_or_nothing(const std::optional<T>& value) {
  return value ? std::string(to_string(*value)) : std::string();
}

const std::array kKeys{
    KeyRow{"on", is_any, [](Fault& f, std::string_view t) { return set_name(f.on, t); },
           [](const Fault& f) { return f.on; }},
    KeyRow{"rank", is_rank_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.rank, t, 0, kMostRanks); },
           [](const Fault& f) { return number_or_nothing(f.rank); }},
    KeyRow{"call", is_rank_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.call, t, 0, kMostCalls); },
           [](const Fault& f) { return number_or_nothing(f.call); }},
    KeyRow{"times", [](FaultKind kind) { return is_rank_fault(kind) || kind == FaultKind::Drop; },
           [](Fault& f, std::string_view t) { return set_whole(f.times, t, 0, kMostCalls); },
           [](const Fault& f) { return f.times == 1 ? "" : fmt::format("{}", f.times); }},
    KeyRow{"count", is_one_of<FaultKind::WrongCount>,
           [](Fault& f, std::string_view t) { return set_whole(f.count, t, 0, kMostCalls); },
           [](const Fault& f) { return number_or_nothing(f.count); }},
    KeyRow{"type", is_one_of<FaultKind::WrongType>,
           [](Fault& f, std::string_view t) { return set_word(f.type, t, parse_data_type); },
           [](const Fault& f) { return word_or_nothing(f.type); }},
    KeyRow{"op", is_one_of<FaultKind::WrongOp>,
           [](Fault& f, std::string_view t) { return set_word(f.op, t, parse_redop); },
           [](const Fault& f) { return word_or_nothing(f.op); }},
    KeyRow{"collective", is_one_of<FaultKind::WrongCollective>,
           [](Fault& f, std::string_view t) { return set_word(f.collective, t, parse_collective); },
           [](const Fault& f) { return word_or_nothing(f.collective); }},
    KeyRow{"root", is_one_of<FaultKind::WrongRoot>,
           [](Fault& f, std::string_view t) { return set_whole(f.root, t, 0, kMostRanks); },
           [](const Fault& f) { return number_or_nothing(f.root); }},
    KeyRow{"by",
           is_one_of<FaultKind::Late, FaultKind::Stall, FaultKind::SlowLink, FaultKind::StallLink>,
           [](Fault& f, std::string_view t) { return set_time(f.by, t); },
           [](const Fault& f) {
             return f.by ? fmt::format("{}us", f.by->count() * 1e6) : std::string();
           }},
    KeyRow{"status", is_one_of<FaultKind::Exit>,
           [](Fault& f, std::string_view t) { return set_whole(f.status, t, 0, 255); },
           [](const Fault& f) { return f.status == 1 ? "" : fmt::format("{}", f.status); }},
    KeyRow{"from", is_link_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.from, t, 0, kMostRanks); },
           [](const Fault& f) { return number_or_nothing(f.from); }},
    KeyRow{"to", is_link_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.to, t, 0, kMostRanks); },
           [](const Fault& f) { return number_or_nothing(f.to); }},
    KeyRow{"channel", is_link_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.channel, t, 0, 1024); },
           [](const Fault& f) { return number_or_nothing(f.channel); }},
    KeyRow{
        "after", is_link_fault,
        [](Fault& f, std::string_view t) { return set_word(f.after, t, parse_bytes); },
        [](const Fault& f) { return f.after.value == 0 ? "" : fmt::format("{}", f.after.value); }},
    KeyRow{"step", is_link_fault,
           [](Fault& f, std::string_view t) { return set_whole(f.step, t, 0, kMostCalls); },
           [](const Fault& f) { return f.step == 0 ? "" : fmt::format("{}", f.step); }},
    KeyRow{"rate", is_one_of<FaultKind::SlowLink>,
           [](Fault& f, std::string_view t) { return set_word(f.rate, t, parse_bandwidth); },
           [](const Fault& f) {
             return f.rate ? fmt::format("{}B/s", f.rate->value) : std::string();
           }},
};

const KeyRow* find_key(FaultKind kind, std::string_view key) {
  const auto found = std::ranges::find(kKeys, key, &KeyRow::key);
  return found != kKeys.end() && found->fits(kind) ? &*found : nullptr;
}

Error no_key(FaultKind kind, std::string_view key) {
  std::vector<std::string_view> known;
  for (const KeyRow& row : kKeys) {
    if (row.fits(kind)) known.push_back(row.key);
  }
  return {ErrorCode::InvalidArgument, fmt::format("fault {} has no '{}'", to_string(kind), key),
          suggestion(key, known)};
}

}  // namespace

Result<Fault> make_fault(FaultKind kind, const FaultKeys& keys) {
  Fault fault;
  fault.kind = kind;
  for (const auto& [key, value] : keys) {
    const KeyRow* const row = find_key(kind, key);
    if (row == nullptr) return no_key(kind, key);
    if (const Status read = row->read(fault, value); !read) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("fault {}: {}: {}", to_string(kind), key, read.error().message),
                   read.error().help};
    }
  }
  if (kind == FaultKind::Late && !fault.by) {
    return Error{ErrorCode::InvalidArgument, "fault late: by how much?", "late:by=200ms"};
  }
  if (kind == FaultKind::SlowLink && !fault.by && !fault.rate) {
    return Error{ErrorCode::InvalidArgument, "fault slow_link: how slow?",
                 "slow_link:rate=100MB/s, or slow_link:by=1ms for each message"};
  }
  return fault;
}

Result<Fault> parse_fault(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  RINGSIDE_TRY(const FaultKind kind, parse_fault_kind(text.substr(0, colon)));
  FaultKeys keys;
  for (std::size_t at = colon + 1; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view pair = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("fault {}: '{}' is no key with a value", to_string(kind), pair),
                   "such as skip:rank=3,call=40"};
    }
    const std::string key(pair.substr(0, equals));
    if (!keys.emplace(key, pair.substr(equals + 1)).second) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("fault {}: '{}' appears twice", to_string(kind), key),
                   "keep one of them"};
    }
  }
  return make_fault(kind, keys);
}

std::vector<std::pair<std::string_view, std::string>> keys_of(const Fault& fault) {
  std::vector<std::pair<std::string_view, std::string>> keys;
  for (const KeyRow& row : kKeys) {
    if (!row.fits(fault.kind)) continue;
    std::string value = row.write(fault);
    if (!value.empty()) keys.emplace_back(row.key, std::move(value));
  }
  return keys;
}

std::string to_string(const Fault& fault) {
  std::string text = to_string(fault.kind);
  char mark = ':';
  for (const auto& [key, value] : keys_of(fault)) {
    text += fmt::format("{}{}={}", mark, key, value);
    mark = ',';
  }
  return text;
}

}  // namespace ringside
