#include "diag/hangdetect/readers/call_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fd.h"
#include "base/json.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kMostCalls = 200'000;  ///< of a file; the newest are kept

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return part;
}

std::int64_t whole_or(std::string_view text, std::int64_t otherwise) {
  return parse_whole(text).value_or(otherwise);
}

int rank_or_none(std::int64_t rank) {
  return rank >= 0 && rank < kMostRanks ? static_cast<int>(rank) : -1;
}

/// Adds calls to a dump, numbers them by group, and interns their texts.
class CallList {
 public:
  explicit CallList(Names& names) : names_(names) {}

  /// returns  its place in dump.calls
  std::size_t add(const std::string& group, Signature signature, std::int64_t created_ns,
                  CallState state) {
    Call call;
    call.created_ns = std::clamp<std::int64_t>(created_ns, 0, 4'000'000'000'000'000'000);
    call.record = dump.calls.size();
    call.is_p2p =
        signature.op == Op::Send || signature.op == Op::Recv || signature.op == Op::Coalesced;
    call.sequence = ++last_[{group, call.is_p2p}];
    call.state = state;
    call.group = names_.add_group(mix(hash_text(group), 0), [&] { return GroupName{group, ""}; });
    call.pg = static_cast<std::int32_t>(call.group);
    std::uint64_t hash = mix(hash_text(signature.name), hash_text(signature.types));
    for (const std::uint64_t value :
         {signature.input_count, signature.output_count, static_cast<std::uint64_t>(signature.root),
          static_cast<std::uint64_t>(signature.source),
          static_cast<std::uint64_t>(signature.target)})
      hash = mix(hash, value);
    call.signature = names_.add_signature(hash, [&] { return std::move(signature); });
    dump.calls.push_back(call);
    return dump.calls.size() - 1;
  }
  /// The number that the next call of the group gets, less one.
  void continue_at(const std::string& group, bool is_p2p, std::uint32_t sequence) {
    last_[{group, is_p2p}] = sequence;
  }

  RankDump dump;

 private:
  Names& names_;
  std::map<std::pair<std::string, bool>, std::uint32_t> last_;
};

std::string shape_of(std::uint64_t count) { return fmt::format("[[{}]]", count); }

std::vector<int> first_ranks(std::int64_t count) {
  std::vector<int> ranks;
  for (std::int64_t r = 0; r < std::min<std::int64_t>(count, kMostRanks); ++r)
    ranks.push_back(static_cast<int>(r));
  return ranks;
}

/// torchcomms' clog, version 1: fields that `|` separates.
/// source  torchcomms hooks/clog; docs/formats 7.5
class Clog {
 public:
  explicit Clog(Names& names) : calls_(names) {}

  void take(std::string_view line) {
    const std::string_view first = take_until(line, '|');
    if (first == "V") {
      take_until(line, '|');
      base_ns_ = nanoseconds(value_of(line, "base_timestamp"));
    } else if (first == "new_comm") {
      take_communicator(line);
    } else if (first == "split") {
      take_split(line);
    } else if (first.size() > 1 && first.front() == 'C') {
      take_call(first, line);
    }
    // `G<graph>|`: what a CUDA graph captures and replays is not numbered; `WARN|` is text.
  }

  /// errors  Corrupt: no communicator and no call
  Result<RankDump> finish() {
    RankDump& dump = calls_.dump;
    if (!is_any_read_) return Error{ErrorCode::Corrupt, "no call and no communicator in it"};
    dump.version = "clog";
    for (auto& [name, ranks] : members_) dump.groups.push_back({name, "", std::move(ranks)});
    return std::move(dump);
  }

 private:
  static std::string_view value_of(std::string_view line, std::string_view key) {
    while (!line.empty()) {
      std::string_view field = take_until(line, '|');
      if (take_until(field, '=') == key) return field;
    }
    return {};
  }
  /// `1795171152.25`, `+0.001`
  static std::int64_t nanoseconds(std::string_view seconds) {
    if (seconds.starts_with('+')) seconds.remove_prefix(1);
    double value = 0;
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    constexpr double kLatest = 4e9;
    return static_cast<std::int64_t>(std::clamp(value, 0.0, kLatest) * 1e9);
  }

  void take_communicator(std::string_view line) {
    const std::string name(value_of(line, "comm"));
    const std::int64_t size = whole_or(value_of(line, "world_size"), 0);
    is_any_read_ = true;
    // The first communicator is over the whole job; others were split from it, or state no members.
    if (!members_.empty() || size <= 0 || size > kMostRanks) return;
    members_[name] = first_ranks(size);
    calls_.dump.rank = rank_or_none(whole_or(value_of(line, "rank"), -1));
  }

  void take_split(std::string_view line) {
    const auto parent = members_.find(std::string(value_of(line, "parent")));
    std::string_view list = value_of(line, "ranks");
    if (parent == members_.end() || list.empty()) return;
    std::vector<int> ranks;
    while (!list.empty()) {
      const std::int64_t place = whole_or(take_until(list, ','), -1);
      if (place >= 0 && place < static_cast<std::int64_t>(parent->second.size()))
        ranks.push_back(parent->second[static_cast<std::size_t>(place)]);
    }
    members_[std::string(value_of(line, "child"))] = std::move(ranks);
  }

  void take_call(std::string_view id, std::string_view line) {
    const std::string_view event = take_until(line, '|');
    if (event == "sig") {
      signatures_.insert_or_assign(std::string(id), signature_of(line));
      return;
    }
    const auto known = signatures_.find(id);
    if (known == signatures_.end()) return;
    std::deque<std::size_t>& open = open_[std::string(id)];
    if (event == "Q") {
      if (calls_.dump.calls.size() >= kMostCalls) return;
      const std::size_t plus = line.rfind('+');
      const std::int64_t at = plus == std::string_view::npos ? 0 : nanoseconds(line.substr(plus));
      open.push_back(calls_.add(known->second.first, known->second.second, base_ns_ + at,
                                CallState::Scheduled));
      is_any_read_ = true;
    } else if (event == "S") {
      // Calls of one signature start and end in the order in which they were enqueued.
      for (const std::size_t place : open) {
        Call& call = calls_.dump.calls[place];
        if (call.state != CallState::Scheduled) continue;
        call.state = CallState::Started;
        break;
      }
    } else if ((event == "E" || event == "W") && !open.empty()) {
      // The host may wait for a call whose end is written afterwards: it ends once.
      Call& call = calls_.dump.calls[open.front()];
      call.state = CallState::Completed;
      if (event == "E") open.pop_front();
    }
  }

  /// returns  the communicator, and what is called
  static std::pair<std::string, Signature> signature_of(std::string_view line) {
    const std::string_view fields = line;
    Signature made;
    made.name = take_until(line, '|');
    made.op = made.name == "batch_op_issue" ? Op::Coalesced : op_of(made.name);
    made.backend = "ncclx";
    const auto count = [&](std::string_view key) {
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, whole_or(value_of(fields, key), 0)));
    };
    made.input_count = count("in_count");
    made.output_count = count("out_count");
    made.inputs = shape_of(made.input_count);
    made.outputs = shape_of(made.output_count);
    made.types = value_of(fields, "dtype");
    made.root = rank_or_none(whole_or(value_of(fields, "root"), -1));
    const int peer = rank_or_none(whole_or(value_of(fields, "peer"), -1));
    if (made.op == Op::Send) made.target = peer;
    if (made.op == Op::Recv) made.source = peer;
    return {std::string(value_of(fields, "comm")), std::move(made)};
  }

  CallList calls_;
  std::int64_t base_ns_ = 0;
  bool is_any_read_ = false;
  std::map<std::string, std::vector<int>> members_;  ///< global ranks, by communicator
  std::map<std::string, std::pair<std::string, Signature>, std::less<>> signatures_;
  std::map<std::string, std::deque<std::size_t>> open_;  ///< enqueued and not ended, by signature
};

/// JSON lines of NCCL's Inspector: each has the communicator (`header`), the process (`metadata`) and one call that
/// ended. From version 4.2 on, `dump_stats` holds the first two once.
/// source  NCCL plugins/profiler/inspector; docs/formats 7.2
class Inspector {
 public:
  explicit Inspector(Names& names) : calls_(names) { calls_.dump.is_completed_only = true; }

  void take(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    const auto inner = json.find("dump_stats");
    for (const Json* one : {&json, inner == json.end() ? nullptr : &*inner}) {
      if (one == nullptr || !one->is_object()) continue;
      if (const auto header = one->find("header"); header != one->end()) take_header(*header);
      if (const auto data = one->find("metadata"); data != one->end())
        time_us_ = number_in(*data, "dump_timestamp_us", time_us_);
    }
    for (const bool is_transfer : {false, true}) {
      const auto call = json.find(is_transfer ? "p2p_perf" : "coll_perf");
      if (call != json.end() && call->is_object()) take_call(*call, is_transfer);
    }
  }

  /// errors  Corrupt: no communicator and no call
  Result<RankDump> finish() {
    RankDump& dump = calls_.dump;
    if (widest_.empty()) return Error{ErrorCode::Corrupt, "no communicator of the Inspector in it"};
    dump.version = "inspector";
    dump.groups.push_back({widest_, "", first_ranks(size_)});
    return std::move(dump);
  }

 private:
  static std::int64_t number_in(const Json& object, const char* key, std::int64_t otherwise) {
    if (!object.is_object()) return otherwise;
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<std::int64_t>() : otherwise;
  }
  static std::string text_in(const Json& object, const char* key) {
    if (!object.is_object()) return {};
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
  }

  void take_header(const Json& header) {
    group_ = text_in(header, "comm_name");
    if (group_.empty()) group_ = text_in(header, "id");
    const std::int64_t size = number_in(header, "n_ranks", 0);
    // The rank in the largest communicator is the rank in the job.
    if (group_.empty() || size <= size_ || size > kMostRanks) return;
    size_ = size;
    widest_ = group_;
    calls_.dump.rank = rank_or_none(number_in(header, "rank", -1));
  }

  void take_call(const Json& call, bool is_transfer) {
    const std::int64_t sequence = number_in(call, is_transfer ? "p2p_sn" : "coll_sn", -1);
    if (group_.empty() || sequence < 0 || sequence > 0xFFFFFFFF ||
        calls_.dump.calls.size() >= kMostCalls)
      return;
    Signature made;
    made.name = text_in(call, is_transfer ? "p2p" : "coll");
    made.op = op_of(made.name);
    made.backend = "nccl";
    made.input_count = static_cast<std::uint64_t>(std::max<std::int64_t>(
        0, number_in(call, is_transfer ? "p2p_msg_size_bytes" : "coll_msg_size_bytes", 0)));
    made.inputs = shape_of(made.input_count);
    made.types = "bytes";
    const int peer = rank_or_none(number_in(call, "p2p_peer", -1));
    if (made.op == Op::Send) made.target = peer;
    if (made.op == Op::Recv) made.source = peer;
    const bool is_counted_apart = made.op == Op::Send || made.op == Op::Recv;
    calls_.continue_at(group_, is_counted_apart, static_cast<std::uint32_t>(sequence) - 1);
    calls_.add(group_, std::move(made), time_us_ * 1000, CallState::Completed);
  }

  CallList calls_;
  std::string group_;   ///< of the current line
  std::string widest_;  ///< the largest communicator
  std::int64_t size_ = 0;
  std::int64_t time_us_ = 0;
};

bool is_clog(std::string_view head) { return head.starts_with("V|1|base_timestamp="); }

template <typename Reader>
Result<RankDump> read_lines(std::string_view text, Reader reader) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.take(line);
  }
  return reader.finish();
}

}  // namespace

bool looks_like_call_log(std::string_view head) {
  const bool is_inspector = head.starts_with('{') &&
                            head.find("\"header\"") != std::string_view::npos &&
                            (head.find("\"coll_perf\"") != std::string_view::npos ||
                             head.find("\"p2p_perf\"") != std::string_view::npos ||
                             head.find("\"dump_stats\"") != std::string_view::npos);
  return is_clog(head) || is_inspector;
}

Result<RankDump> parse_call_log(std::string_view text, const std::string& path, Names& names) {
  auto dump = is_clog(text) ? read_lines(text, Clog(names)) : read_lines(text, Inspector(names));
  if (!dump) {
    Error error = std::move(dump).error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
  }
  dump->path = path;
  if (dump->rank < 0) dump->rank = rank_of_name(path);
  return dump;
}

std::vector<RankDump> load_call_logs(const std::vector<InputFile>& files, Names& names,
                                     std::vector<BadFile>& bad) {
  constexpr std::uint64_t kLargest = 1U << 30U;
  std::vector<RankDump> dumps;
  for (const InputFile& file : files) {
    if (file.kind != FileKind::CallLog) continue;
    if (file.bytes > kLargest) {
      bad.push_back({file.path, {ErrorCode::Corrupt, file.path + ": larger than 1 GiB"}});
      continue;
    }
    const auto text = read_file(file.path);
    auto dump = text ? parse_call_log(*text, file.path, names) : Result<RankDump>(text.error());
    if (dump) {
      dumps.push_back(*std::move(dump));
    } else {
      bad.push_back({file.path, std::move(dump).error()});
    }
  }
  std::stable_sort(dumps.begin(), dumps.end(),
                   [](const RankDump& a, const RankDump& b) { return a.rank < b.rank; });
  return dumps;
}

}  // namespace ringside::hang
