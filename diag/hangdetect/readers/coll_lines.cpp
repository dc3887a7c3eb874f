#include "diag/hangdetect/readers/coll_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {
namespace {

/// The recorder's type names, as the calls of other ranks have them.
constexpr const char* kTypes[] = {"Char",   "Byte",     "Int",           "UInt32",
                                  "Long",   "UInt64",   "Half",          "Float",
                                  "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};

std::string type_name(int type) {
  return type >= 0 && type < 12 ? kTypes[type] : fmt::format("type {}", type);
}

}  // namespace

void CollLines::take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker) {
  if (comm.rank < 0) return;
  const bool has_ended = comm.event == logs::CommEventType::DestroyStart ||
                         comm.event == logs::CommEventType::DestroyComplete;
  comms_[{{speaker.host, speaker.pid}, comm.comm}] = {comm.rank, comm.nranks, comm.comm_id,
                                                      has_ended};
}

void CollLines::take(const logs::Record& record, const logs::Speaker& speaker, int rank) {
  const auto& line = record.as<logs::CollCall>();
  Lines& mine = lines_[{speaker.host, speaker.pid}];
  mine.device = record.device;
  mine.nranks = line.nranks;
  if (rank >= 0) mine.rank = rank;
  if (rank < 0 && mine.rank < 0 && line.global_rank >= 0) mine.rank = line.global_rank;
  constexpr std::size_t kMost = 100'000;  // of one process: the newest decide
  if (mine.lines.size() >= kMost) return;
  const std::string function(line.function);
  const std::uint64_t hash =
      mix(mix(mix(hash_text(function), line.count), static_cast<std::uint64_t>(line.datatype)),
          mix(static_cast<std::uint64_t>(line.op), static_cast<std::uint64_t>(line.root)));
  const Op op = op_of(function);
  const std::uint32_t signature = names_.add_signature(hash, [&] {
    Signature made;
    made.name = function;
    made.op = op;
    made.backend = "nccl";
    made.input_count = line.count;
    made.inputs = fmt::format("[[{}]]", line.count);
    made.outputs = made.inputs;
    made.output_count = line.count;
    made.types = type_name(line.datatype);
    if (op == Op::Broadcast || op == Op::Reduce || op == Op::Gather || op == Op::Scatter) {
      made.root = line.root;
    }
    if (op == Op::Send) made.target = line.root;
    if (op == Op::Recv) made.source = line.root;
    return made;
  });
  mine.lines.push_back({line.comm, signature, op == Op::Send || op == Op::Recv, record.place});
}

/// By id, which is the same in all processes of a communicator.
std::map<std::uint64_t, GroupName> CollLines::name_communicators(int world,
                                                                 const LogGroups& groups) const {
  std::map<std::uint64_t, std::map<int, int>> members;  // id -> place -> global rank
  std::map<std::uint64_t, int> sizes;
  for (const auto& [key, comm] : comms_) {
    const auto process = lines_.find(key.first);
    if (comm.id == 0) continue;
    sizes[comm.id] = comm.nranks;
    if (process != lines_.end() && process->second.rank >= 0) {
      members[comm.id][comm.rank] = process->second.rank;
    }
  }
  const auto whole = std::count_if(sizes.begin(), sizes.end(),
                                   [&](const auto& one) { return one.second == world; });
  std::map<std::uint64_t, GroupName> names;
  for (const auto& [id, size] : sizes) {
    if (const auto known = groups.find_members(size, members[id])) {
      names[id] = *known;
    } else if (size == world && whole == 1 && !groups.has_any()) {
      names[id] = {"0", "default_pg"};
    } else if (!groups.has_any()) {
      names[id] = {fmt::format("{:x}", id), "communicator"};
    }
  }
  return names;
}

std::vector<int> CollLines::behind() const {
  std::set<std::uint64_t> ids;
  for (const auto& [key, comm] : comms_) ids.insert(comm.id);
  std::map<std::size_t, std::vector<int>> by_count;
  for (const auto& [process, mine] : lines_) {
    if (mine.rank >= 0) by_count[mine.lines.size()].push_back(mine.rank);
  }
  if (ids.size() != 1 || by_count.size() < 2) return {};
  return by_count.begin()->second;
}

/// Where no line names ranks: one host has all of the communicator, a process for each GPU from 0 on, and launchers
/// number such processes as the GPUs.
void CollLines::number_by_device() {
  std::map<int, Lines*> by_device;
  for (auto& [process, mine] : lines_) {
    const bool is_numbered = mine.rank < 0 && mine.device >= 0 &&
                             mine.nranks == static_cast<int>(lines_.size()) &&
                             process.first == lines_.begin()->first.first;
    if (!is_numbered || !by_device.emplace(mine.device, &mine).second) return;
  }
  if (by_device.empty() || by_device.rbegin()->first >= static_cast<int>(by_device.size())) return;
  for (const auto& [device, mine] : by_device) mine->rank = device;
}

std::vector<RankDump> CollLines::finish(int world, const WhereFunction& where,
                                        const LogGroups& groups) {
  number_by_device();
  std::vector<RankDump> dumps;
  const std::map<std::uint64_t, GroupName> names = name_communicators(world, groups);
  for (auto& [process, mine] : lines_) {
    if (mine.rank < 0 || mine.rank >= std::max(world, mine.rank + 1)) continue;
    RankDump dump;
    dump.rank = mine.rank;
    dump.version = "log";
    std::map<std::pair<std::uint64_t, bool>, std::uint32_t> counts;
    for (const Line& line : mine.lines) {
      const auto known = comms_.find({process, line.comm});
      const std::uint64_t id = known == comms_.end() ? 0 : known->second.id;
      // Without an id (splits, old versions) a communicator over the whole job is the default group.
      const bool is_world = known == comms_.end() || known->second.nranks == world;
      if (!is_world && id == 0) continue;
      GroupName group{"0", "default_pg"};
      if (id != 0) {
        const auto name = names.find(id);
        dump.is_newest_lost |= name == names.end();
        group = name != names.end() ? name->second : GroupName{fmt::format("{:x}", id), ""};
      }
      Call call;
      const auto [file, number] = where(line.place);
      if (dump.path.empty()) dump.path = file;
      call.record = static_cast<std::uint64_t>(number);
      call.sequence = ++counts[{line.comm, line.is_p2p}];
      call.signature = line.signature;
      call.is_p2p = line.is_p2p;
      call.state = CallState::Completed;
      call.pg = 0;
      call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                    [&] { return group; });
      dump.calls.push_back(call);
    }
    if (dump.calls.empty()) continue;
    const auto last = comms_.find({process, mine.lines.back().comm});
    if (last == comms_.end() || !last->second.has_ended) {
      dump.calls.back().state = CallState::Scheduled;
    }
    dumps.push_back(std::move(dump));
  }
  if (dumps.size() < 2) dumps.clear();
  return dumps;
}

std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of) {
  std::map<std::uint64_t, std::vector<int>> by_count;
  for (const auto& [rank, calls] : calls_of) by_count[calls].push_back(rank);
  return by_count.size() < 2 ? std::vector<int>{} : by_count.begin()->second;
}

}  // namespace ringside::hang
