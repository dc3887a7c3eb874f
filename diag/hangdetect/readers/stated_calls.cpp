#include "diag/hangdetect/readers/stated_calls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "diag/facts/call_lines.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/last_lines.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

using State = facts::CallState;

constexpr std::size_t kMostRanksRead = 4096;
constexpr int kHighest = 1 << 16;               // a larger number in a print is no rank
constexpr std::size_t kMostStatedCalls = 4096;  // of a rank; the newest decide

bool is_transfer(const facts::Call& call) {
  return call.operation == "send" || call.operation == "recv";
}

/// Returns whether both can be one call: no field that both have differs.
bool may_be_same(const facts::Call& a, const facts::Call& b) {
  const auto fit = [](const auto& one, const auto& other, const auto& unknown) {
    return one == unknown || other == unknown || one == other;
  };
  return a.operation == b.operation && fit(a.group, b.group, "") && fit(a.label, b.label, "") &&
         fit(a.sequence, b.sequence, -1) && fit(a.step, b.step, -1) && fit(a.peer, b.peer, -1) &&
         fit(a.tag, b.tag, -1) && fit(a.root, b.root, -1);
}

bool is_open(const facts::Call& call) { return call.state != State::Completed; }

/// Adds to a call what a later line states.
void merge(const facts::Call& more, facts::Call& call) {
  call.state = more.state;
  if (call.sequence < 0) call.sequence = more.sequence;
  if (call.input_count < 0) call.input_count = more.input_count;
  if (call.root < 0) call.root = more.root;
  if (call.peer < 0) call.peer = more.peer;
  if (call.group.empty()) call.group = more.group;
}

bool is_whole_job(const std::string& group) {
  return group.empty() || group == "world" || group == "default" || group == "global" ||
         group == "default_pg" || group == "0" || group == "comm_world" ||
         group == "mpi_comm_world";
}

Signature signature_of(const facts::Call& call) {
  Signature made;
  made.name = call.operation;
  made.op = op_of(call.operation);
  made.backend = "nccl";
  made.input_count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, call.input_count));
  if (made.op == Op::Scatter || made.op == Op::ReduceScatter) made.output_count = made.input_count;
  made.inputs = call.shape;
  if (made.inputs.empty() && call.input_count >= 0)
    made.inputs = "[[" + std::to_string(call.input_count) + "]]";
  made.types = call.dtype;
  made.label = call.label;
  // A receive of microbatch 8 does not take the send of microbatch 7.
  made.tag =
      call.tag >= 0 ? call.tag : static_cast<int>(std::clamp<std::int64_t>(call.step, -1, 1 << 30));
  made.root = call.root;
  if (made.op == Op::Send) made.target = call.peer;
  if (made.op == Op::Recv) made.source = call.peer;
  return made;
}

/// `2` of `.. stage2 DEBUG`, `[stage 2]`: the stage that wrote the line, by its first words.  returns  -1: unknown
int stage_in(std::string_view line) {
  constexpr std::size_t kNear = 64;
  constexpr std::string_view kWord = "stage";
  const std::string small = lower_case(line.substr(0, kNear));
  const std::size_t at = small.find(kWord);
  if (at == std::string::npos || (at > 0 && logs::is_letter(small[at - 1]))) return -1;
  std::string_view rest = std::string_view(small).substr(at + kWord.size());
  if (!rest.empty() && std::string_view(" _-=").find(rest.front()) != std::string_view::npos)
    rest.remove_prefix(1);
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return static_cast<int>(std::min<std::int64_t>(parse_whole(digits).value_or(-1), kMostRanks));
}

}  // namespace

bool StatedCalls::has_left(const Rank& rank, std::size_t at) const {
  const facts::Call& call = rank.calls[at].call;
  const bool has_reported_ends = !is_transfer(call) || ended_transfers_.contains(call.operation);
  const auto later = rank.calls.begin() + static_cast<std::ptrdiff_t>(at);
  return !has_reported_ends && call.state != State::Started &&
         std::any_of(later, rank.calls.end(), [](const Said& one) {
           return one.call.state == State::Completed || one.call.state == State::Started;
         });
}

bool StatedCalls::take(int rank, std::string_view line, logs::Place place) {
  std::vector<facts::Call> calls = facts::read_calls(line);
  if (calls.empty()) return false;
  bool is_taken = false;
  const int stage = stage_in(line);
  for (facts::Call& call : calls) {
    const bool is_labelled = call.subject.rank < 0 && rank < 0;
    const bool is_staged = is_labelled && call.subject.label < 0 && stage >= 0;
    const int whose = call.subject.rank >= 0 ? call.subject.rank
                      : is_staged            ? stage
                      : is_labelled          ? call.subject.label
                                             : rank;
    auto& ranks = is_staged ? staged_ : is_labelled ? labelled_ : named_;
    if (whose < 0 || whose >= kHighest ||
        (ranks.size() >= kMostRanksRead && !ranks.contains(whose)))
      continue;
    add(ranks[whose], {std::move(call), place});
    is_taken = true;
  }
  return is_taken;
}

void StatedCalls::take_other(int rank, std::string_view line) {
  // A rank that logs that it waits has not left its call.
  if (line.find("wait") != std::string_view::npos) return;
  const RankedLine own = read_ranked_line(line);
  if (own.rank >= 0) rank = own.rank;
  // A rank that logs while others call is alive, and has made no call.
  if (rank >= 0 && rank < kHighest && named_.size() >= 2 && named_.size() < kMostRanksRead)
    named_.try_emplace(rank);
  // `[2] loading a batch`, `(2) ..`
  if (const auto found = named_.find(rank); found != named_.end()) {
    found->second.is_elsewhere = true;
    return;
  }
  const std::size_t digits = line.find_first_not_of("[( r");
  if (rank >= 0 || digits == std::string_view::npos || digits > 2) return;
  const std::size_t end = line.find_first_not_of("0123456789", digits);
  if (end == std::string_view::npos || end == digits) return;
  const std::size_t close = line.find_first_not_of(' ', end);
  if (close == std::string_view::npos || std::string_view("])|:>").find(line[close]) == line.npos)
    return;
  const auto label = parse_whole(line.substr(digits, end - digits)).value_or(-1);
  if (label < 0 || label >= kHighest) return;
  if (labelled_.size() >= 2 && labelled_.size() < kMostRanksRead)
    labelled_.try_emplace(static_cast<int>(label));
  const auto found = labelled_.find(static_cast<int>(label));
  if (found != labelled_.end()) found->second.is_elsewhere = true;
}

void StatedCalls::add(Rank& rank, Said said) {
  rank.is_elsewhere = false;
  if (said.call.state == State::Completed) {
    has_ends_ = true;
    if (is_transfer(said.call)) ended_transfers_.insert(said.call.operation);
  }
  auto& calls = rank.calls;
  if (said.call.state == State::Completed) {
    const auto begun = std::find_if(calls.rbegin(), calls.rend(), [&](const Said& one) {
      const bool may_be_number = said.call.sequence < 0 || one.call.sequence < 0 ||
                                 one.call.sequence == said.call.sequence;
      return is_open(one.call) &&
             (said.call.operation.empty() ? may_be_number : may_be_same(one.call, said.call));
    });
    if (begun != calls.rend()) {
      merge(said.call, begun->call);
      return;
    }
    if (said.call.operation.empty()) return;
  } else if (!calls.empty() && said.call.sequence >= 0 &&
             calls.back().call.sequence == said.call.sequence &&
             may_be_same(calls.back().call, said.call)) {
    merge(said.call, calls.back().call);  // a row that is printed again
    return;
  }
  if (said.call.operation.empty()) return;
  if (calls.size() >= kMostStatedCalls)
    calls.erase(calls.begin(), calls.begin() + kMostStatedCalls / 2);
  calls.push_back(std::move(said));
}

/// Gives each call a number in its group, from 1 on.
void StatedCalls::number_calls(std::map<int, Rank>& ranks) {
  using OfGroup = std::pair<std::string, bool>;  // its name; of transfers
  struct Group {
    bool has_numbers = true, has_steps = true;
    std::int64_t least = -1;
    std::map<std::int64_t, std::int64_t> most;  ///< by step: calls of one rank
  };
  const auto key = [](const facts::Call& call) { return OfGroup(call.group, is_transfer(call)); };
  std::map<OfGroup, Group> groups;
  for (const auto& [number, rank] : ranks) {
    std::map<std::pair<OfGroup, std::int64_t>, std::int64_t> in_step;
    for (const Said& one : rank.calls) {
      Group& group = groups[key(one.call)];
      group.has_numbers = group.has_numbers && one.call.sequence >= 0;
      group.has_steps = group.has_steps && one.call.step >= 0;
      std::int64_t& most = group.most[one.call.step];
      most = std::max(most, ++in_step[{key(one.call), one.call.step}]);
      if (group.least < 0 || one.call.sequence < group.least) group.least = one.call.sequence;
    }
  }
  for (auto& [name, group] : groups) {
    std::int64_t base = 0;
    for (auto& [step, most] : group.most) base += std::exchange(most, base);
  }
  for (auto& [number, rank] : ranks) {
    std::map<std::pair<OfGroup, std::int64_t>, std::int64_t> counts;
    for (Said& one : rank.calls) {
      const Group& group = groups[key(one.call)];
      // Numbers from 0 on count, too.
      if (group.has_numbers) {
        one.call.sequence += group.least == 0 ? 1 : 0;
        continue;
      }
      const std::int64_t step = group.has_steps ? one.call.step : -1;
      const std::int64_t base = group.has_steps ? group.most.at(step) : 0;
      one.call.sequence = base + ++counts[{key(one.call), step}];
    }
  }
}

std::vector<RankDump> StatedCalls::finish(Names& names, const WhereFunction& where, bool claimed,
                                          int world) {
  // Stages of a pipeline are the ranks if there are as many stages as ranks.
  const bool are_stages = static_cast<int>(staged_.size()) == world && labelled_.size() < 2;
  std::map<int, Rank>& ranks = named_.size() >= 2 ? named_ : are_stages ? staged_ : labelled_;
  if (ranks.size() < 2) return {};
  std::set<std::string> groups;
  for (auto& [number, rank] : ranks) {
    for (Said& one : rank.calls) {
      if (is_whole_job(one.call.group)) one.call.group.clear();
      groups.insert(one.call.group);
    }
  }
  number_calls(ranks);
  const auto key = [](const facts::Call& call) { return std::pair(call.group, is_transfer(call)); };
  std::map<std::pair<std::string, bool>, std::int64_t> newest;
  bool is_any_open = claimed;
  bool has_begins = false;
  for (const auto& [number, rank] : ranks) {
    for (const Said& one : rank.calls) {
      std::int64_t& last = newest[key(one.call)];
      last = std::max(last, one.call.sequence);
      is_any_open = is_any_open || one.call.state == State::Started ||
                    (has_ends_ && one.call.state == State::Enqueued);
      has_begins = has_begins || one.call.state == State::Enqueued;
    }
  }
  // If all ranks are in one call, the job may be moving; a rank that is not in it shows which call does not end.
  const bool is_any_unseen =
      has_begins && (world > static_cast<int>(ranks.size()) ||
                     std::any_of(ranks.begin(), ranks.end(),
                                 [](const auto& one) { return one.second.calls.empty(); }));
  if (!is_any_open && !is_any_unseen) {
    has_ended_ = has_ends_;
    return {};
  }
  const bool is_one_group = groups.size() == 1;
  std::vector<RankDump> dumps;
  bool is_any_pending = false;
  for (auto& [number, rank] : ranks) {
    RankDump dump;
    dump.rank = number;
    dump.version = "log";
    for (std::size_t i = 0; i < rank.calls.size(); ++i) {
      const Said& one = rank.calls[i];
      const bool is_last = i + 1 == rank.calls.size();
      const bool is_passed =
          (!is_transfer(one.call) && one.call.sequence < newest[key(one.call)]) ||
          has_left(rank, i);
      // Where lines report ends, a call without one has not ended. Otherwise a rank has left its last call if it logs
      // something else later, or if other ranks have gone past that call.
      const bool is_pending = one.call.state == State::Completed ? false
                              : one.call.state == State::Started ? is_last || !is_passed
                              : has_ends_                        ? is_last || !is_passed
                                          : is_last && !rank.is_elsewhere && !is_passed;
      Call call;
      const auto [file, line] = where(one.place);
      if (dump.path.empty()) dump.path = file;
      call.record = static_cast<std::uint64_t>(std::max<std::int64_t>(0, line));
      call.sequence =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(one.call.sequence, 0, 0xFFFFFFFF));
      Signature made = signature_of(one.call);
      std::uint64_t hash = mix(hash_text(made.name), hash_text(made.types));
      for (const std::uint64_t value :
           {hash_text(made.label), hash_text(made.inputs), made.input_count,
            static_cast<std::uint64_t>(made.root), static_cast<std::uint64_t>(made.tag),
            static_cast<std::uint64_t>(made.source), static_cast<std::uint64_t>(made.target)})
        hash = mix(hash, value);
      call.signature = names.add_signature(hash, [&] { return std::move(made); });
      const GroupName group =
          one.call.group.empty() ? GroupName{"0", "default_pg"} : GroupName{one.call.group, ""};
      call.group = names.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                   [&] { return group; });
      call.pg = 0;
      call.is_p2p = is_transfer(one.call);
      call.state = is_pending ? CallState::Scheduled : CallState::Completed;
      is_any_pending = is_any_pending || is_pending;
      dump.calls.push_back(call);
    }
    const bool is_size_known =
        world >= static_cast<int>(ranks.size()) && world <= static_cast<int>(kMostRanksRead);
    if (is_one_group && is_size_known && !groups.begin()->empty()) {
      GroupConfig all{*groups.begin(), "", {}};
      for (int r = 0; r < world; ++r) all.ranks.push_back(r);
      dump.groups.push_back(std::move(all));
    }
    const bool is_whole_job_known =
        is_one_group && (groups.begin()->empty() || !dump.groups.empty());
    if (!dump.calls.empty() || is_whole_job_known) dumps.push_back(std::move(dump));
  }
  has_ended_ = has_ends_ && !is_any_pending;
  if (dumps.size() < 2 || !is_any_pending) dumps.clear();
  return dumps;
}

}  // namespace ringside::hang
