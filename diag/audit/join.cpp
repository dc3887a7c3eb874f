#include "diag/audit/join.h"

#include <algorithm>
#include <bit>

#include "diag/audit/evidence.h"
#include "diag/audit/join_parts.h"
#include "diag/facts/reader.h"
#include "diag/logparse/init_records.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Appends the statements of a later shard; its speakers become processes.
void append(SaidBy& to, Said& from, const std::vector<std::uint32_t>& process_of) {
  from.evidence.renumber(process_of);
  to.evidence.append(from.evidence);
  from.speakers.for_each(
      [&](std::uint32_t speaker) { to.processes.push_back(process_of[speaker]); });
  sort_once(to.processes);
}

template <typename K>
void append_all(std::map<K, SaidBy>& to, std::map<K, Said>& from,
                const std::vector<std::uint32_t>& process_of) {
  for (auto& [key, said] : from) append(to[key], said, process_of);
}

class Joiner {
 public:
  explicit Joiner(std::vector<std::unique_ptr<Shard>> shards)
      : shards_(std::move(shards)), processes_(join_processes(shards_, facts_)) {}

  JobFacts join() {
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      nets_.push_back(net_numbers(*shards_[s]));
      add_said(*shards_[s], processes_[s]);
      add_edges(*shards_[s], processes_[s]);
      add_lists(*shards_[s], processes_[s]);
      add_tables(*shards_[s], processes_[s]);
      facts_.messages.append(std::move(shards_[s]->messages), processes_[s]);
      add_matrices(*shards_[s], processes_[s]);
      facts::append(facts_.stated, std::move(shards_[s]->stated));
      for (const UnreadReport& one : shards_[s]->unread_reports()) {
        facts_.unread_reports.push_back(one);
      }
    }
    for (auto& [key, said] : environment_)
      facts_.environment.push_back({std::move(said), key.first, key.second});
    join_comms(shards_, processes_, nets_, facts_);
    std::sort(facts_.edges.begin(), facts_.edges.end(), [](const EdgeFacts& a, const EdgeFacts& b) {
      return std::tie(a.via, a.direction, a.gdr, a.net) <
             std::tie(b.via, b.direction, b.gdr, b.net);
    });
    find_cut();
    find_job();
    name_ranks();
    name_devices();
    return std::move(facts_);
  }

 private:
  std::vector<std::uint16_t> net_numbers(const Shard& shard) {
    std::vector<std::uint16_t> numbers;
    for (std::size_t i = 0; i < shard.nets.size(); ++i) {
      const auto found = std::find(facts_.nets.begin(), facts_.nets.end(), shard.nets[i]);
      numbers.push_back(static_cast<std::uint16_t>(found - facts_.nets.begin()));
      if (found == facts_.nets.end()) facts_.nets.push_back(shard.nets[i]);
    }
    return numbers;
  }

  void add_said(Shard& shard, const std::vector<std::uint32_t>& process_of) {
    append_all(facts_.net_devices, shard.net_devices, process_of);
    append_all(facts_.exports, shard.exports, process_of);
    append_all(facts_.networks, shard.networks, process_of);
    append_all(facts_.bootstraps, shard.bootstraps, process_of);
    append_all(facts_.versions, shard.versions, process_of);
    append_all(facts_.gdr_of_hca, shard.gdr_of_hca, process_of);
    append_all(facts_.results, shard.results, process_of);
    append_all(facts_.channel_counts, shard.channel_counts, process_of);
    append(facts_.slow_inits, shard.slow_inits, process_of);
    facts_.version_facts.insert(shard.version_facts.begin(), shard.version_facts.end());
    for (auto& [key, said] : shard.environment) append(environment_[key], said, process_of);
  }

  void add_edges(Shard& shard, const std::vector<std::uint32_t>& process_of) {
    for (auto& [kind, said] : shard.edges) {
      const std::string& net = shard.nets[kind.net];
      auto at = std::find_if(facts_.edges.begin(), facts_.edges.end(), [&](const EdgeFacts& one) {
        return one.via == kind.via && one.direction == kind.direction && one.gdr == kind.gdr &&
               one.net == net;
      });
      if (at == facts_.edges.end()) {
        facts_.edges.push_back({kind.via, kind.direction, kind.gdr, net});
        at = facts_.edges.end() - 1;
      }
      append(at->said, said, process_of);
    }
  }

  void add_lists(Shard& shard, const std::vector<std::uint32_t>& process_of) {
    for (PatternFact& pattern : shard.patterns) {
      pattern.evidence.renumber(process_of);
      const auto at = std::ranges::find(facts_.patterns, pattern);
      if (at == facts_.patterns.end()) {
        facts_.patterns.push_back(std::move(pattern));
      } else {
        at->evidence.append(pattern.evidence);
      }
    }
    for (TopologyDump& dump : shard.dumps) {
      if (dump.goes_on) {
        const auto open =
            std::find_if(facts_.dumps.begin(), facts_.dumps.end(), [&](const TopologyDump& one) {
              return !one.is_whole && one.speaker == process_of[dump.speaker];
            });
        if (open == facts_.dumps.end()) continue;
        open->nodes.insert(open->nodes.end(), dump.nodes.begin(), dump.nodes.end());
        open->is_whole = dump.is_whole;
        continue;
      }
      const bool is_known = std::any_of(
          facts_.dumps.begin(), facts_.dumps.end(),
          [&](const TopologyDump& one) { return one.host == dump.host && one.is_whole; });
      if (is_known) continue;
      dump.speaker = process_of[dump.speaker];
      dump.evidence.renumber(process_of);
      facts_.dumps.push_back(std::move(dump));
    }
    const auto move_all = [&](auto& to, auto& from) {
      for (auto& one : from) {
        one.quoted.process = process_of[one.quoted.process];
        to.push_back(std::move(one));
      }
    };
    move_all(facts_.xids, shard.xids);
    move_all(facts_.python_errors, shard.python_errors);
    move_all(facts_.ras, shard.ras);
    move_all(facts_.capabilities, shard.capabilities);
    for (Evidence UnreadLines::*some :
         {&UnreadLines::lines, &UnreadLines::warnings, &UnreadLines::texts}) {
      (shard.unread.*some).renumber(process_of);
      (facts_.unread.*some).append(shard.unread.*some);
    }
    for (std::size_t i = 0; i < kPlainLines; ++i) {
      shard.plain[i].evidence.renumber(process_of);
      facts_.plain[i].evidence.append(shard.plain[i].evidence);
      move_all(facts_.plain[i].kept, shard.plain[i].kept);
    }
  }

  void add_matrices(Shard& shard, const std::vector<std::uint32_t>& process_of) {
    for (LinkMatrix& matrix : shard.matrices) {
      if (matrix.rows.empty()) continue;  // the words only look like a matrix heading
      matrix.process = process_of[matrix.process];
      if (matrix.host.empty()) matrix.host = facts_.host_of(matrix.process);
      matrix.evidence.renumber(process_of);
      facts_.matrices.push_back(std::move(matrix));
    }
  }

  /// A table that was split at the end of a shard continues in the next shard.
  void add_tables(Shard& shard, const std::vector<std::uint32_t>& process_of) {
    for (BenchmarkTable& table : shard.tables) {
      table.speaker = process_of[table.speaker];
      for (BenchmarkLine& row : table.rows) row.quoted.process = process_of[row.quoted.process];
      for (BenchmarkDevice& device : table.devices)
        device.quoted.process = process_of[device.quoted.process];
      for (Evidence* evidence : {&table.begin, &table.average, &table.stopped})
        evidence->renumber(process_of);
      BenchmarkTable* open = nullptr;
      for (BenchmarkTable& known : facts_.tables) {
        if (known.speaker == table.speaker) open = known.is_concluded ? nullptr : &known;
      }
      const bool goes_on = open != nullptr && !table.is_announced &&
                           !(open->has_heading && table.has_heading) &&
                           (table.devices.empty() || open->rows.empty());
      if (!goes_on) {
        facts_.tables.push_back(std::move(table));
        continue;
      }
      if (!table.rows.empty() || !table.stopped.empty()) open->stopped = std::move(table.stopped);
      open->devices.insert(open->devices.end(), table.devices.begin(), table.devices.end());
      open->rows.insert(open->rows.end(), table.rows.begin(), table.rows.end());
      open->begin.append(table.begin);
      open->has_heading = open->has_heading || table.has_heading;
      open->has_redop = open->has_redop || table.has_redop;
      open->average.append(table.average);
      if (table.average_gbs >= 0) open->average_gbs = table.average_gbs;
      open->is_concluded = table.is_concluded;
    }
  }

  /// A terminal or a collector cuts lines at one width: then the longest lines of several kinds are equally long.
  void find_cut() {
    std::size_t longest = 0;
    std::uint64_t kinds = 0;
    for (const auto& shard : shards_) {
      if (shard->longest > longest) kinds = 0;
      if (shard->longest >= longest) kinds |= shard->longest_kinds;
      longest = std::max(longest, shard->longest);
    }
    constexpr int kSeveral = 3;          // kinds; fewer may be equally long by chance
    constexpr std::size_t kNarrow = 40;  // characters; a terminal is wider
    if (std::popcount(kinds) >= kSeveral && longest >= kNarrow && longest < kQuotedBytes)
      facts_.cut_at = longest;
  }

  void find_job() {
    for (const auto& shard : shards_)
      facts_.longest_ring = std::max(facts_.longest_ring, shard->longest_ring);
    facts_.is_of_job = std::any_of(shards_.begin(), shards_.end(),
                                   [](const auto& shard) { return shard->is_of_job; });
  }

  void name_ranks() {
    for (const CommFacts& comm : facts_.comms) {
      if (comm.nranks < facts_.comms.front().nranks) break;
      for (const Member& member : comm.members) {
        ProcessFacts& process = facts_.processes[member.process];
        if (process.launcher_rank < 0 && process.rank < 0) process.rank = member.rank;
      }
    }
    for (const CommFacts& comm : facts_.comms) {
      for (const Member& member : comm.members) {
        if (member.host < 0 || member.bus_id < 0) continue;
        std::vector<std::int64_t>& gpus = facts_.hosts[static_cast<std::size_t>(member.host)].gpus;
        const auto at = std::lower_bound(gpus.begin(), gpus.end(), member.bus_id);
        if (at == gpus.end() || *at != member.bus_id) gpus.insert(at, member.bus_id);
      }
    }
  }

  void name_devices() {
    for (const auto& [key, said] : facts_.net_devices) {
      std::vector<std::string> names;
      NetDevices devices;
      devices.list = key.second;
      NetDevice device;
      for (NetDeviceCursor cursor(devices); cursor.next(device);) names.emplace_back(device.name);
      for (const std::uint32_t process : said.processes) {
        const std::int32_t host = facts_.processes[process].host;
        if (host < 0) continue;
        facts_.hosts[static_cast<std::size_t>(host)].devices.emplace(key.first, names);
      }
    }
  }

  std::vector<std::unique_ptr<Shard>> shards_;
  JobFacts facts_ = {};
  ProcessTable processes_;
  std::vector<std::vector<std::uint16_t>> nets_ = {};
  SaidTables<SaidBy>::ByTwo environment_ = {};
};

}  // namespace

JobFacts join_shards(std::vector<std::unique_ptr<Shard>> shards) {
  return Joiner(std::move(shards)).join();
}

}  // namespace ringside::audit
