#include "diag/hangdetect/recordings/recording_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "diag/hangdetect/readers/dump_keys.h"

namespace ringside::hang {
namespace {

using recordings::Format;
using recordings::Recording;

constexpr std::size_t kMostCalls = 200'000;  ///< of a rank; the newest are kept

Signature signature_of(const Recording& recording, const recordings::Call& call) {
  Signature made;
  made.op = call.op;
  made.name = call.name;
  made.backend = recording.backend;
  made.input_count = call.in_count;
  made.output_count = call.out_count;
  if (call.in_count > 0) made.inputs = fmt::format("[[{}]]", call.in_count);
  if (call.out_count > 0) made.outputs = fmt::format("[[{}]]", call.out_count);
  made.types = call.type.empty() && call.in_count > 0 ? "bytes" : call.type;
  made.root = call.root;
  if (call.op == Op::Send) made.target = call.peer;
  if (call.op == Op::Recv) made.source = call.peer;
  return made;
}

std::uint64_t hash_of(const Signature& signature) {
  std::uint64_t hash = mix(hash_text(signature.name), hash_text(signature.types));
  for (const std::uint64_t value :
       {signature.input_count, signature.output_count, static_cast<std::uint64_t>(signature.root),
        static_cast<std::uint64_t>(signature.source), static_cast<std::uint64_t>(signature.target)})
    hash = mix(hash, value);
  return hash;
}

/// Finds calls that have ended and cannot have completed: a rank that every member needs has not entered them, although
/// its recording goes on until after their end. A call that times out is recorded as one that ended.
class FailedCalls {
 public:
  explicit FailedCalls(const std::vector<Recording>& all) {
    std::map<std::pair<std::string, std::vector<int>>, std::size_t> known;
    for (const Recording& recording : all) {
      std::vector<std::size_t>& numbers = numbers_[recording.rank];
      for (const recordings::Group& group : recording.groups) {
        const auto [found, is_new] = known.try_emplace({group.name, group.members}, groups_.size());
        if (is_new) groups_.push_back({group.members, {}});
        numbers.push_back(found->second);
        groups_[found->second].last.try_emplace(recording.rank, -1);
      }
      for (const recordings::Call& call : recording.calls) {
        if (call.is_transfer()) continue;
        std::int64_t& last = groups_[number_of(recording, call)].last[recording.rank];
        last = std::max(last, call.sequence);
      }
      if (recording.window_end_ns >= 0) windows_[recording.rank] = recording.window_end_ns;
    }
  }

  [[nodiscard]] bool has(const Recording& recording, const recordings::Call& call) const {
    if (call.is_transfer() || call.end_ns < 0 || !needs_everybody(call.op)) return false;
    const GroupOfAll& group = groups_[number_of(recording, call)];
    if (group.last.at(recording.rank) != call.sequence) return false;
    return std::ranges::any_of(group.members, [&](int member) {
      const auto window = windows_.find(member);
      if (window == windows_.end() || window->second < call.end_ns) return false;
      const auto last = group.last.find(member);
      return last == group.last.end() || last->second < call.sequence;
    });
  }

 private:
  struct GroupOfAll {
    std::vector<int> members;
    std::map<int, std::int64_t> last;  ///< newest collective, by rank
  };
  [[nodiscard]] std::size_t number_of(const Recording& recording,
                                      const recordings::Call& call) const {
    return numbers_.at(recording.rank)[static_cast<std::size_t>(call.group)];
  }

  std::vector<GroupOfAll> groups_;
  std::map<int, std::vector<std::size_t>> numbers_;  ///< of each rank's groups, in groups_
  std::map<int, std::int64_t> windows_;              ///< end of the recording, by rank
};

CallState state_of(const Recording& recording, const recordings::Call& call) {
  if (!recording.has_device_times) return CallState::Issued;
  if (call.has_ended()) return CallState::Completed;
  return call.begin_ns >= 0 ? CallState::Started : CallState::Scheduled;
}

}  // namespace

RankDump dump_of(const Recording& recording, Names& names) {
  RankDump dump;
  dump.rank = recording.rank;
  dump.path = recording.path;
  dump.version = recordings::to_string(recording.format);
  dump.is_completed_only = recording.is_completed_only;
  dump.is_newest_lost = recording.is_cut;
  dump.known_until_ns = std::max<std::int64_t>(0, recording.window_end_ns);
  for (const recordings::Group& group : recording.groups) {
    std::vector<int> members = group.members;
    if (members.empty() && group.size == recording.world) {
      for (int rank = 0; rank < group.size; ++rank) members.push_back(rank);
    }
    if (!members.empty())
      dump.groups.push_back({group.name, group.description, std::move(members)});
  }
  const std::size_t skipped = recording.calls.size() - std::min(kMostCalls, recording.calls.size());
  for (std::size_t i = skipped; i < recording.calls.size(); ++i) {
    const recordings::Call& recorded = recording.calls[i];
    const recordings::Group& group = recording.groups[static_cast<std::size_t>(recorded.group)];
    Call call;
    call.created_ns =
        std::max<std::int64_t>(0, recorded.issued_ns >= 0 ? recorded.issued_ns : recorded.begin_ns);
    call.record = i;
    call.is_p2p = recorded.is_transfer();
    call.sequence = static_cast<std::uint32_t>(recorded.sequence);
    call.state = state_of(recording, recorded);
    call.group = names.add_group(mix(hash_text(group.name), hash_text(group.description)), [&] {
      return GroupName{group.name, group.description};
    });
    call.pg = recorded.group;
    Signature signature = signature_of(recording, recorded);
    call.signature = names.add_signature(hash_of(signature), [&] { return std::move(signature); });
    dump.calls.push_back(call);
  }
  return dump;
}

std::vector<RankDump> load_recording_dumps(const std::vector<InputFile>& files, Names& names,
                                           std::vector<BadFile>& bad) {
  const bool has_logs = std::ranges::count(files, FileKind::Log, &InputFile::kind) > 0;
  std::vector<InputFile> used;
  std::ranges::copy_if(files, std::back_inserter(used), [&](const InputFile& file) {
    const bool is_profile = file.format == Format::Kineto || file.format == Format::Nsys;
    return file.kind == FileKind::Recording && !(is_profile && has_logs);
  });
  recordings::Loaded loaded = recordings::load(used);
  std::move(loaded.bad.begin(), loaded.bad.end(), std::back_inserter(bad));
  std::vector<RankDump> dumps;
  const FailedCalls failed(loaded.recordings);
  for (Recording& recording : loaded.recordings) {
    for (recordings::Call& call : recording.calls) {
      if (failed.has(recording, call)) call.end_ns = call.duration_ns = -1;
    }
    dumps.push_back(dump_of(recording, names));
  }
  return dumps;
}

}  // namespace ringside::hang
