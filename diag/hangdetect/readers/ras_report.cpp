#include "diag/hangdetect/readers/ras_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>
#include <utility>

#include "base/fd.h"
#include "base/json.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/job/nccl_result.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

constexpr std::array<Op, 5> kRasOps{Op::Broadcast, Op::Reduce, Op::AllGather, Op::ReduceScatter,
                                    Op::AllReduce};

std::int64_t number_in(const Json& object, const char* key, std::int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                             : otherwise;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool is_set(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// errors  none: missing fields stay unknown
RasMember member_of(const Json& json, bool is_missing) {
  RasMember member;
  member.place =
      static_cast<int>(std::clamp<std::int64_t>(number_in(json, "rank", -1), -1, kMostRanks));
  member.host = text_in(json, "host");
  member.pid = number_in(json, "pid", -1);
  member.gpu = number_in(json, "cuda_dev", -1);
  member.is_missing = is_missing;
  member.control_plane = text_in(json, "control_plane");
  if (const auto all = json.find("operations"); all != json.end() && all->is_object()) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    member.operations = std::clamp<std::int64_t>(number_in(*all, "launched", 0), 0, kMost) +
                        std::clamp<std::int64_t>(number_in(*all, "completed", 0), 0, kMost);
  }
  if (const auto status = json.find("status"); status != json.end() && status->is_object()) {
    member.is_dead = is_set(*status, "considered_dead");
    member.has_left = is_set(*status, "finalize_called") || is_set(*status, "destroy_flag");
    const std::int64_t init = number_in(*status, "init_state", 0);
    const std::int64_t async = number_in(*status, "async_error", 0);
    if (job::is_nccl_failure(init)) member.error = init;
    if (job::is_nccl_failure(async)) member.error = async;
  }
  if (const auto counts = json.find("collective_counts");
      counts != json.end() && counts->is_object()) {
    for (std::size_t i = 0; i < kRasCounts.size(); ++i) {
      constexpr std::int64_t kMost = 500'000'000;  // five of them are a sequence number still
      member.counts[i] = std::clamp<std::int64_t>(number_in(*counts, kRasCounts[i], 0), 0, kMost);
    }
  }
  if (const auto ended = json.find("completed_counts"); ended != json.end() && ended->is_object()) {
    member.completed = 0;
    std::vector<int> pending;
    for (std::size_t i = 0; i < kRasCounts.size(); ++i) {
      const std::int64_t done =
          std::clamp<std::int64_t>(number_in(*ended, kRasCounts[i], 0), 0, member.counts[i]);
      member.completed += done;
      if (done < member.counts[i]) pending.push_back(static_cast<int>(i));
    }
    if (pending.size() == 1) member.pending = pending.front();
  }
  return member;
}

void add_members(const Json& communicator, const char* key, bool is_missing, RasCommunicator& out) {
  const auto list = communicator.find(key);
  if (list == communicator.end() || !list->is_array()) return;
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    RasMember member = member_of(one, is_missing);
    if (member.place >= 0 && member.place < kMostRanks) out.members.push_back(std::move(member));
  }
}

using ProcessKey = std::tuple<std::string, std::int64_t, std::int64_t>;
ProcessKey process_of(const RasMember& member) { return {member.host, member.pid, member.gpu}; }

/// The rank in the largest communicator is the rank in the job.
void number_globally(RasReport& report) {
  const auto widest = std::max_element(
      report.communicators.begin(), report.communicators.end(),
      [](const RasCommunicator& a, const RasCommunicator& b) { return a.size < b.size; });
  if (widest == report.communicators.end()) return;
  std::map<ProcessKey, int> ranks;
  for (const RasMember& member : widest->members) {
    if (member.pid >= 0) ranks[process_of(member)] = member.place;
  }
  for (RasCommunicator& communicator : report.communicators) {
    for (RasMember& member : communicator.members) {
      const auto found = ranks.find(process_of(member));
      if (found != ranks.end()) member.global = found->second;
      if (&communicator == &*widest) member.global = member.place;
    }
  }
}

/// Returns whether ncclras counts all calls of the group: an all-to-all consists of sends and receives, which it does
/// not count.
bool are_all_counted(const RankDump& dump, const std::string& group, const Names& names) {
  return std::none_of(dump.calls.begin(), dump.calls.end(), [&](const Call& call) {
    const Op op = names.signature(call.signature).op;
    return names.group(call.group).name == group &&
           (op == Op::AllToAll || op == Op::Gather || op == Op::Scatter);
  });
}

/// Places the ranks of one communicator.
class Placer {
 public:
  Placer(Names& names, const std::vector<RankDump>& dumps, std::map<int, RankDump>& made)
      : names_(names), made_(made), groups_(names, dumps) {
    for (const RankDump& dump : dumps) {
      if (!dump.is_newest_lost) by_rank_[dump.rank] = &dump;
    }
  }

  void place(const RasCommunicator& communicator, const std::string& path) {
    std::map<int, int> members;
    for (const RasMember& member : communicator.members) {
      if (member.global >= 0) members[member.place] = member.global;
    }
    if (by_rank_.empty()) {
      place_alone(communicator, path);
    } else if (const auto group = groups_.find_members(communicator.size, members)) {
      place_by_group(communicator, *group, path);
    }
  }

 private:
  static bool answers(const RasMember& member) { return !member.is_missing && member.global >= 0; }

  void place_alone(const RasCommunicator& communicator, const std::string& path) {
    std::int64_t least = -1;
    std::int64_t most = -1;
    for (const RasMember& member : communicator.members) {
      if (!answers(member)) continue;
      least = least < 0 ? member.total() : std::min(least, member.total());
      most = std::max(most, member.total());
    }
    const GroupName group{fmt::format("{:x}", communicator.hash), "communicator"};
    for (const RasMember& member : communicator.members) {
      if (!answers(member)) continue;
      // Where no counter shows which calls ended, a rank that launched more than another waits for it.
      const bool knows_ends = member.completed >= 0;
      const std::int64_t ended = knows_ends ? member.completed : std::min(least, member.total());
      const bool waits = member.total() > ended;
      add(member.global, group, waits ? ended + 1 : ended, waits, path, 0,
          waits ? member.pending : -1);
    }
  }

  void place_by_group(const RasCommunicator& communicator, const GroupName& group,
                      const std::string& path) {
    const RasMember* known = nullptr;
    const Call* newest = nullptr;
    for (const RasMember& member : communicator.members) {
      const auto dump = answers(member) ? by_rank_.find(member.global) : by_rank_.end();
      if (dump == by_rank_.end() || known != nullptr) continue;
      newest = newest_of(*dump->second, group.name);
      if (newest != nullptr) known = &member;
    }
    if (known == nullptr) return;
    const RankDump& dump = *by_rank_.at(known->global);
    const bool is_counted = are_all_counted(dump, group.name, names_);
    for (const RasMember& member : communicator.members) {
      if (!answers(member) || by_rank_.count(member.global) != 0) continue;
      const std::int64_t lead = member.total() - known->total();
      if (member.counts != known->counts && !is_counted) continue;
      const std::int64_t sequence = static_cast<std::int64_t>(newest->sequence) + lead;
      if (sequence < 0) continue;
      const Call* same = call_at(dump, group.name, sequence);
      // A rank that is ahead of it waits for it.
      const bool waits = lead > 0 || (same != nullptr && same->is_pending());
      const Call* first = waits ? first_pending(dump, group.name) : nullptr;
      const bool is_in_same_call =
          first != nullptr && static_cast<std::int64_t>(first->sequence) <= sequence;
      const Call& like = is_in_same_call ? *first : same != nullptr ? *same : *newest;
      const std::int64_t number = is_in_same_call ? first->sequence
                                  : lead > 0      ? newest->sequence + 1
                                                  : sequence;
      add(member.global, group, number, waits, path, like.created_ns);
    }
  }

  const Call* newest_of(const RankDump& dump, const std::string& group) const {
    const Call* newest = nullptr;
    for (const Call& call : dump.calls) {
      if (!call.is_p2p && names_.group(call.group).name == group) newest = &call;
    }
    return newest;
  }
  const Call* call_at(const RankDump& dump, const std::string& group, std::int64_t sequence) const {
    for (const Call& call : dump.calls) {
      if (!call.is_p2p && static_cast<std::int64_t>(call.sequence) == sequence &&
          names_.group(call.group).name == group) {
        return &call;
      }
    }
    return nullptr;
  }
  const Call* first_pending(const RankDump& dump, const std::string& group) const {
    for (const Call& call : dump.calls) {
      if (!call.is_p2p && call.is_pending() && names_.group(call.group).name == group) return &call;
    }
    return nullptr;
  }

  void add(int rank, const GroupName& group, std::int64_t sequence, bool waits,
           const std::string& path, std::int64_t created_ns, int kind = -1) {
    RankDump& dump = made_[rank];
    dump.rank = rank;
    dump.version = "ras";
    dump.path = path;
    Call call;
    call.created_ns = created_ns;  // of the like call of a rank with a dump: it gives the order
    call.pg = static_cast<std::int32_t>(dump.calls.size());
    call.sequence = static_cast<std::uint32_t>(sequence);
    call.state = waits ? CallState::Scheduled : CallState::Completed;
    call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                  [&] { return group; });
    if (kind >= 0) call.signature = signature_of(kRasOps.at(static_cast<std::size_t>(kind)));
    dump.calls.push_back(call);
  }

  /// Returns the signature of a call of which only the kind is known.
  std::uint32_t signature_of(Op op) {
    return names_.add_signature(mix(hash_text("counted by ras"), static_cast<std::uint64_t>(op)),
                                [op] {
                                  Signature signature;
                                  signature.op = op;
                                  signature.name = to_string(op);
                                  signature.backend = "nccl";
                                  return signature;
                                });
  }

  Names& names_;
  std::map<int, RankDump>& made_;
  LogGroups groups_;
  std::map<int, const RankDump*> by_rank_;
};

/// Returns the text with a comma before each `"status"` that follows a number.
/// source  NCCL 2.28.7 to 2.28.9, src/ras/client_support.cc: missing_ranks lack the comma after "nvml_dev"
std::string with_commas(std::string_view text) {
  constexpr std::string_view kKey = "\"status\"";
  std::string whole;
  std::size_t done = 0;
  for (std::size_t at = text.find(kKey); at != std::string_view::npos;
       at = text.find(kKey, at + kKey.size())) {
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t\r\n");
    if (before == std::string_view::npos || !logs::is_digit(text[before])) continue;
    whole.append(text.substr(done, before + 1 - done)) += ',';
    done = before + 1;
  }
  return whole.append(text.substr(done));
}

}  // namespace

Result<RasReport> parse_ras_report(std::string_view text) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return Error{ErrorCode::Corrupt, "no JSON in it"};
  Json json = Json::parse(text.substr(open), nullptr, false);
  if (json.is_discarded()) json = Json::parse(with_commas(text.substr(open)), nullptr, false);
  if (json.is_discarded()) {
    return Error{ErrorCode::Corrupt, "broken JSON: the query was cut off", "ask ncclras again"};
  }
  const auto list = json.is_object() ? json.find("communicators") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array()) {
    return Error{ErrorCode::Corrupt, "JSON without a list of communicators: no report of ncclras"};
  }
  RasReport report;
  report.time = text_in(json, "timestamp");
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    RasCommunicator communicator;
    communicator.size =
        static_cast<int>(std::clamp<std::int64_t>(number_in(one, "size", 0), 0, kMostRanks));
    const std::string hash = text_in(one, "hash");
    const char* digits = hash.data() + (hash.starts_with("0x") ? 2 : 0);
    std::from_chars(digits, hash.data() + hash.size(), communicator.hash, 16);
    add_members(one, "ranks", false, communicator);
    add_members(one, "missing_ranks", true, communicator);
    std::stable_sort(communicator.members.begin(), communicator.members.end(),
                     [](const RasMember& a, const RasMember& b) { return a.place < b.place; });
    report.communicators.push_back(std::move(communicator));
  }
  number_globally(report);
  return report;
}

namespace {

/// Whether the text closes every brace that it opens.
class Braces {
 public:
  bool are_closed_by(std::string_view text) {
    for (const char c : text) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (c == '\\') {
        is_escaped_ = is_in_text_;
      } else if (c == '"') {
        is_in_text_ = !is_in_text_;
      } else if (!is_in_text_) {
        depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
      }
    }
    return are_closed();
  }
  [[nodiscard]] bool are_closed() const { return depth_ <= 0; }

 private:
  int depth_ = 0;
  bool is_in_text_ = false;
  bool is_escaped_ = false;
};

}  // namespace

std::vector<RasReport> ras_reports_in(const std::vector<PasteLine>& lines, const std::string& path,
                                      std::vector<bool>& used) {
  std::vector<RasReport> reports;
  used.resize(lines.size());
  const auto names_report = [](const PasteLine& line) {
    return line.text.find("\"communicators\"") != std::string::npos;
  };
  if (std::none_of(lines.begin(), lines.end(), names_report)) return reports;
  // An opening brace without its closing one is searched to the end of the text: do that only a few times.
  constexpr int kMostOpen = 8;
  int open = 0;
  for (std::size_t first = 0; first < lines.size(); ++first) {
    if (!lines[first].text.starts_with('{')) continue;
    Braces braces;
    std::string text;   // as its lines are
    std::string tight;  // where a terminal has broken it within a word
    std::size_t last = first;
    for (bool is_whole = false; last < lines.size() && !is_whole; ++last) {
      text += lines[last].text + "\n";
      tight += lines[last].text;
      is_whole = braces.are_closed_by(lines[last].text);
    }
    if (!braces.are_closed() && ++open == kMostOpen) break;
    if (text.find("\"communicators\"") == std::string::npos) continue;
    auto report = parse_ras_report(text);
    if (!report) report = parse_ras_report(tight);
    if (!report) continue;
    report->path = path;
    reports.push_back(*std::move(report));
    std::fill(used.begin() + static_cast<std::ptrdiff_t>(first),
              used.begin() + static_cast<std::ptrdiff_t>(last), true);
    first = last - 1;
  }
  return reports;
}

std::vector<RasReport> load_ras_reports(const std::vector<InputFile>& files,
                                        std::vector<BadFile>& bad) {
  // A report has about 400 bytes for each rank of a communicator: 600 communicators of 1,024 ranks.
  constexpr std::uint64_t kLargest = 256U << 20U;
  const auto load = [](const InputFile& file) -> Result<RasReport> {
    if (file.bytes > kLargest) {
      return Error{ErrorCode::Corrupt, "larger than any report of ncclras (256 MiB)",
                   "give the answer to one query of ncclras"};
    }
    RINGSIDE_TRY(const std::string text, read_file(file.path));
    return parse_ras_report(text);
  };
  std::vector<RasReport> reports;
  for (const InputFile& file : files) {
    if (file.kind != FileKind::Ras) continue;
    auto report = load(file);
    if (report) {
      report->path = file.path;
      reports.push_back(*std::move(report));
    } else {
      Error error = report.error();
      error.message = fmt::format("{}: {}", file.path, error.message);
      bad.push_back({file.path, std::move(error)});
    }
  }
  return reports;
}

void sort_by_time(std::vector<RasReport>& reports) {
  std::stable_sort(reports.begin(), reports.end(),
                   [](const RasReport& a, const RasReport& b) { return a.time < b.time; });
}

MissingRanks missing_ranks(const RasReport& report) {
  MissingRanks missing;
  for (const RasCommunicator& communicator : report.communicators) {
    for (const RasMember& member : communicator.members) {
      if (member.is_missing) missing.insert({communicator.hash, member.place});
    }
  }
  return missing;
}

std::size_t first_of_aftermath(const std::vector<MissingRanks>& missing) {
  const auto is_any = [](const MissingRanks& one) { return !one.empty(); };
  const auto first = std::ranges::find_if(missing, is_any);
  const auto other = std::find_if(first, missing.end(), [&](const MissingRanks& one) {
    return !one.empty() &&
           std::ranges::none_of(one, [&](const auto& rank) { return first->contains(rank); });
  });
  return static_cast<std::size_t>(other - missing.begin());
}

void drop_aftermath(std::vector<RasReport>& reports) {
  std::vector<MissingRanks> missing;
  for (const RasReport& report : reports) missing.push_back(missing_ranks(report));
  reports.resize(first_of_aftermath(missing));
}

bool has_moved(const std::vector<RasReport>& all) {
  if (all.empty()) return false;
  const MissingRanks missing = missing_ranks(all.back());
  auto since = all.end() - 1;
  while (since != all.begin() && (missing.empty() || missing_ranks(*(since - 1)) == missing))
    --since;
  const std::span<const RasReport> reports(since, all.end());
  if (reports.size() < 2) return false;
  const auto state_of = [](const RasMember& member) {
    return std::tuple(member.counts, member.operations, member.completed);
  };
  std::map<std::pair<std::uint64_t, int>, decltype(state_of(RasMember()))> before;
  for (const RasCommunicator& communicator : reports.front().communicators) {
    for (const RasMember& member : communicator.members) {
      if (!member.is_missing) before[{communicator.hash, member.place}] = state_of(member);
    }
  }
  for (const RasCommunicator& communicator : reports.back().communicators) {
    for (const RasMember& member : communicator.members) {
      const auto known = before.find({communicator.hash, member.place});
      if (known != before.end() && !member.is_missing && known->second != state_of(member))
        return true;
    }
  }
  return false;
}

std::vector<int> odd_launchers(const RasCommunicator& communicator) {
  std::map<std::int64_t, std::map<std::array<std::int64_t, 5>, std::vector<int>>> by_total;
  for (const RasMember& member : communicator.members) {
    if (!member.is_missing && member.global >= 0) {
      by_total[member.total()][member.counts].push_back(member.global);
    }
  }
  std::vector<int> odd;
  for (const auto& [total, sides] : by_total) {
    const auto most = std::max_element(
        sides.begin(), sides.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [counts, ranks] : sides) {
      if (counts != most->first) odd.insert(odd.end(), ranks.begin(), ranks.end());
      const bool is_tie = counts != most->first && ranks.size() == most->second.size();
      if (is_tie) odd.insert(odd.end(), most->second.begin(), most->second.end());
    }
  }
  std::sort(odd.begin(), odd.end());
  odd.erase(std::unique(odd.begin(), odd.end()), odd.end());
  return odd;
}

std::vector<RankDump> ras_dumps(const std::vector<RasReport>& reports, Names& names,
                                const std::vector<RankDump>& dumps) {
  std::map<int, RankDump> made;
  if (!reports.empty()) {
    Placer placer(names, dumps, made);
    for (const RasCommunicator& communicator : reports.back().communicators) {
      placer.place(communicator, reports.back().path);
    }
  }
  std::vector<RankDump> out;
  for (auto& [rank, dump] : made) {
    std::stable_sort(dump.calls.begin(), dump.calls.end(),
                     [](const Call& a, const Call& b) { return a.created_ns < b.created_ns; });
    for (std::size_t i = 0; i < dump.calls.size(); ++i) dump.calls[i].record = i;
    out.push_back(std::move(dump));
  }
  return out;
}

}  // namespace ringside::hang
