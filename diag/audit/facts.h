#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diag/audit/comm_facts.h"
#include "diag/audit/json_lines.h"
#include "diag/audit/process_parts.h"
#include "diag/audit/said_tables.h"
#include "diag/logparse/parse_logs.h"

/// The job model: facts from the logs of all ranks together. All references are indices: a process is its place in
/// JobFacts::processes, a host in JobFacts::hosts.
namespace ringside::audit {

struct HostFacts {
  std::string name;
  std::vector<std::uint32_t> processes = {};
  std::vector<std::int64_t> gpus = {};  ///< bus ids, sorted
  /// By net (`IB`, `Socket`): the names that its first process lists, in NCCL's order.
  std::map<std::string, std::vector<std::string>> devices = {};
};

struct ProcessFacts {
  std::int32_t host = -1;  ///< -1: unknown
  std::int32_t pid = -1;
  std::int32_t launcher_rank = -1;
  std::int32_t rank = -1;  ///< in the largest communicator, else by the launcher
  std::uint64_t lines = 0;
};

/// A thing that some processes print.
struct SaidBy {
  std::vector<std::uint32_t> processes = {};  ///< sorted, each once
  Evidence evidence = {};
};

/// A variable's value and the processes that have it.
struct Setting : SaidBy {
  std::string name = {}, value = {};
};

/// Edges that are alike, over all communicators.
struct EdgeFacts {
  logs::Via via = logs::Via::Unknown;
  logs::Direction direction = logs::Direction::None;
  bool gdr = false;
  std::string net;
  SaidBy said = {};
};

/// Lines of connections within hosts.
struct LocalEdges {
  std::uint64_t p2p = 0, shm = 0, net = 0;

  LocalEdges& operator+=(const LocalEdges& other);
};

/// A GPU reads or writes the memory of another one.
bool is_p2p(logs::Via via);

/// Adds the local edges of a communicator, by host; -1: unknown hosts.
void add_local_edges(const CommFacts& comm, std::map<std::int32_t, LocalEdges>& hosts);

struct JobFacts : SaidTables<SaidBy>, StatedLists {
  std::vector<HostFacts> hosts = {};
  std::vector<ProcessFacts> processes = {};  ///< 0: lines without a prefix, of no known process
  std::vector<CommFacts> comms = {};         ///< largest first, then in order of appearance
  std::vector<std::string> nets = {};
  std::vector<Setting> environment = {};  ///< by name, then value
  std::vector<EdgeFacts> edges = {};
  std::map<std::int32_t, LocalEdges> local_edges = {};  ///< by host; -1: of unknown ones
  std::vector<UnreadReport> unread_reports = {};
  std::uint64_t torn_lines =
      0;  ///< with the beginning of another line in them: absent lines may be lost
  std::uint64_t lines = 0;                            ///< of all logs
  std::vector<logs::ParseReport::Piece> pieces = {};  ///< of files; places count lines in them
  bool is_of_job = true;  ///< false: any program, such as a browser, could have written every line
  std::uint64_t stack_lines =
      0;  ///< of them read, and of the stack, a launcher, a driver or a benchmark
  std::size_t cut_at =
      0;  ///< characters: longer lines were cut or wrapped by a collector; 0: none were
  struct Desync {
    std::int32_t rank = -1;
    std::uint32_t process = 0;
    std::size_t call = 0;  ///< from 0, of the communicator
    std::string text, expected;
    QuotedLine quoted;
  };
  std::vector<Desync> desyncs =
      {};  ///< ranks whose calls differ from most, at the first difference

  /// The communicator that most of the job is in; nullptr: none was seen.
  [[nodiscard]] const CommFacts* world() const { return comms.empty() ? nullptr : &comms.front(); }
  /// Whether some rank has finished the start of a communicator.
  [[nodiscard]] bool has_started() const;
  /// The name of a host, and of a process's host; empty: unknown.
  [[nodiscard]] const std::string& host_name(std::int32_t host) const;
  [[nodiscard]] const std::string& host_of(std::uint32_t process) const {
    return host_name(processes[process].host);
  }
  /// Hosts of the widest communicator; without one, hosts that printed anything.
  [[nodiscard]] int nodes() const;
  [[nodiscard]] logs::FileLine where(logs::Place place) const;
  [[nodiscard]] const Setting* setting(
      std::string_view name) const;  ///< the first value; nullptr: none
  [[nodiscard]] const PlainLines& plain_of(PlainLine line) const {
    return plain[static_cast<std::size_t>(line)];
  }
  /// Whether a benchmark's header or a list of GPUs names a product with these words; a blank in `words` also matches
  /// the end of the name.
  [[nodiscard]] bool has_text_of_gpu(std::string_view words) const;
  /// Whether the output of that command is in the text, so that the user need not run it.
  [[nodiscard]] bool has_output_of(std::string_view command) const;
  /// Whether some process failed: a function of NCCL returned an error, or a program ended with an exception.
  [[nodiscard]] bool has_failure() const;
  /// Whether a function of NCCL returned an error in the process.
  [[nodiscard]] bool has_failed(std::uint32_t process) const;
};

}  // namespace ringside::audit
