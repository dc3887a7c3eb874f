#include <algorithm>
#include <charconv>
#include <deque>
#include <map>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/recordings/formats.h"
#include "diag/hangdetect/recordings/lines.h"

namespace ringside::recordings {
namespace {

/// torchcomms' clog, version 1: fields that `|` separates.
/// source  torchcomms hooks/clog; docs/formats 7.5
class Clog {
 public:
  Clog() {
    made_.format = Format::Clog;
    made_.backend = "ncclx";
    made_.is_completed_only = false;
  }

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

  Result<Recording> finish() {
    if (made_.calls.empty() && made_.groups.empty())
      return Error{ErrorCode::Corrupt, "no call and no communicator in it",
                   "give the whole file that torchcomms wrote"};
    return std::move(made_);
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
    constexpr double kLatest = 2e9;
    return static_cast<std::int64_t>(std::clamp(value, 0.0, kLatest) * 1e9);
  }
  [[nodiscard]] std::int64_t time_of(std::string_view line) const {
    const std::size_t plus = line.rfind('+');
    return plus == std::string_view::npos ? base_ns_ : base_ns_ + nanoseconds(line.substr(plus));
  }

  void take_communicator(std::string_view line) {
    const std::string name(value_of(line, "comm"));
    const std::int64_t size = whole_or(value_of(line, "world_size"), 0);
    if (size <= 0 || size > hang::kMostRanks) return;
    // The first communicator is over the whole job; others were split from it, or state no members.
    const bool is_first = made_.groups.empty();
    Group& group = group_named(name);
    if (!is_first) return;
    for (int rank = 0; rank < size; ++rank) group.members.push_back(rank);
    group.size = made_.world = static_cast<int>(size);
    made_.rank = rank_or_none(whole_or(value_of(line, "rank"), -1));
  }

  void take_split(std::string_view line) {
    const std::vector<int> parent = group_named(std::string(value_of(line, "parent"))).members;
    std::string_view list = value_of(line, "ranks");
    std::vector<int> ranks;
    while (!list.empty()) {
      const std::int64_t place = whole_or(take_until(list, ','), -1);
      if (place >= 0 && place < static_cast<std::int64_t>(parent.size()))
        ranks.push_back(parent[static_cast<std::size_t>(place)]);
    }
    if (ranks.empty()) return;
    Group& child = group_named(std::string(value_of(line, "child")));
    child.size = static_cast<int>(ranks.size());
    child.members = std::move(ranks);
  }

  Group& group_named(const std::string& name) {
    const auto [known, is_new] = group_of_.try_emplace(name, made_.groups.size());
    if (is_new) made_.groups.push_back({name, "", 0, {}});
    return made_.groups[known->second];
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
      if (made_.calls.size() >= kMostCalls) return;
      open.push_back(made_.calls.size());
      made_.calls.push_back(known->second);
      made_.calls.back().issued_ns = time_of(line);
    } else if (event == "S") {
      // Calls of one signature start and end in the order in which they were enqueued.
      for (const std::size_t place : open) {
        Call& call = made_.calls[place];
        if (call.begin_ns >= 0) continue;
        call.begin_ns = time_of(line);
        break;
      }
    } else if ((event == "E" || event == "W") && !open.empty()) {
      // The host may wait for a call whose end is written afterwards: it ends once.
      made_.calls[open.front()].end_ns = time_of(line);
      if (event == "E") open.pop_front();
    }
  }

  Call signature_of(std::string_view line) {
    const std::string_view fields = line;
    Call made;
    made.name = take_until(line, '|');
    made.op = made.name == "batch_op_issue" ? hang::Op::Coalesced : hang::op_of(made.name);
    const auto count = [&](std::string_view key) {
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, whole_or(value_of(fields, key), 0)));
    };
    made.in_count = count("in_count");
    made.out_count = count("out_count");
    made.type = type_of(value_of(fields, "dtype"));
    made.bytes = bytes_of(made);
    made.root = rank_or_none(whole_or(value_of(fields, "root"), -1));
    made.peer = rank_or_none(whole_or(value_of(fields, "peer"), -1));
    const std::string name(value_of(fields, "comm"));
    group_named(name);
    made.group = static_cast<int>(group_of_.at(name));
    return made;
  }

  Recording made_;
  std::int64_t base_ns_ = 0;
  std::map<std::string, std::size_t> group_of_;
  std::map<std::string, Call, std::less<>> signatures_;
  std::map<std::string, std::deque<std::size_t>> open_;  ///< enqueued and not ended, by signature
};

}  // namespace

Result<Recording> parse_clog(std::string_view text) { return read_lines(text, Clog()); }

}  // namespace ringside::recordings
