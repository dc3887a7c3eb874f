#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diag/audit/comm_facts.h"
#include "diag/audit/json_lines.h"
#include "diag/audit/process_parts.h"
#include "diag/audit/said_tables.h"
#include "diag/logparse/parse_logs.h"

/// The job model: the facts from the logs of all ranks. References are indices: a process is an index of
/// JobFacts::processes, a host an index of JobFacts::hosts. -1 and empty mean unknown.
namespace ringside::audit {

/// A host of the job.
struct HostFacts {
  std::string name;
  std::vector<std::uint32_t> processes = {};
  std::vector<std::int64_t> gpus = {};  ///< bus ids, sorted
  /// By network (`IB`, `Socket`): the device names that the host's first process lists, in NCCL's order.
  std::map<std::string, std::vector<std::string>> devices = {};
};

/// A process of the job.
struct ProcessFacts {
  std::int32_t host = -1;  ///< -1: unknown
  std::int32_t pid = -1;
  std::int32_t launcher_rank = -1;
  std::int32_t rank = -1;  ///< rank in the largest communicator, else the launcher's
  std::uint64_t lines = 0;
};

/// The processes that print a fact, with the lines as evidence.
struct SaidBy {
  std::vector<std::uint32_t> processes = {};  ///< sorted, without duplicates
  Evidence evidence = {};
};

/// A value of an environment variable, and the processes with this value.
struct Setting : SaidBy {
  std::string name = {}, value = {};
};

/// The connections with the same transport, direction and network, over all communicators.
struct EdgeFacts {
  logs::Via via = logs::Via::Unknown;
  logs::Direction direction = logs::Direction::None;
  bool gdr = false;
  std::string net;
  SaidBy said = {};
};

/// Numbers of log lines on connections within a host, by transport.
struct LocalEdges {
  std::uint64_t p2p = 0, shm = 0, net = 0;

  LocalEdges& operator+=(const LocalEdges& other);
};

/// Returns whether the transport is peer-to-peer: a GPU accesses the memory of another GPU.
bool is_p2p(logs::Via via);

/// Adds the connections within hosts of a communicator to `hosts`, by host; -1 collects unknown hosts.
void add_local_edges(const CommFacts& comm, std::map<std::int32_t, LocalEdges>& hosts);

/// All facts of a job.
struct JobFacts : SaidTables<SaidBy>, StatedLists {
  std::vector<HostFacts> hosts = {};
  std::vector<ProcessFacts> processes = {};  ///< [0]: lines without a prefix, of unknown processes
  std::vector<CommFacts> comms = {};         ///< largest first, then in order of appearance
  std::vector<std::string> nets = {};
  std::vector<Setting> environment = {};  ///< sorted by name, then value
  std::vector<EdgeFacts> edges = {};
  std::map<std::int32_t, LocalEdges> local_edges = {};  ///< by host; -1: unknown hosts
  std::vector<UnreadReport> unread_reports = {};
  /// Lines with the beginning of another line inside; if > 0, lines may be lost
  std::uint64_t torn_lines = 0;
  std::uint64_t lines = 0;                            ///< lines of all logs
  std::vector<logs::ParseReport::Piece> pieces = {};  ///< parts of the files, to resolve places
  bool is_of_job = true;  ///< false: all lines could be from unrelated programs, such as a browser
  /// Lines that were read and belong to the stack, a launcher, a driver or a benchmark
  std::uint64_t stack_lines = 0;
  std::size_t cut_at = 0;  ///< length at which a log collector cut or wrapped lines; 0: it did not
  /// A rank whose calls differ from those of most ranks.
  struct Desync {
    std::int32_t rank = -1;
    std::uint32_t process = 0;
    std::size_t call = 0;  ///< index of the call on the communicator, from 0
    std::string text, expected;
    QuotedLine quoted;
  };
  std::vector<Desync> desyncs = {};  ///< at the first difference of each communicator

  /// Returns the largest communicator, or nullptr if the logs show none.
  [[nodiscard]] const CommFacts* world() const { return comms.empty() ? nullptr : &comms.front(); }
  /// Returns whether any rank has finished the initialisation of a communicator.
  [[nodiscard]] bool has_started() const;
  /// Returns the name of a host; empty if unknown. host_of() takes a process.
  [[nodiscard]] const std::string& host_name(std::int32_t host) const;
  [[nodiscard]] const std::string& host_of(std::uint32_t process) const {
    return host_name(processes[process].host);
  }
  /// Returns the number of hosts of the communicator with most hosts. Without a communicator: of the benchmark table with
  /// most hosts, or of the hosts with log lines if these are more.
  [[nodiscard]] int nodes() const;
  /// Returns file and line of a place.
  [[nodiscard]] logs::FileLine where(logs::Place place) const;
  /// First value of a variable, or nullptr
  [[nodiscard]] const Setting* setting(std::string_view name) const;
  [[nodiscard]] const PlainLines& plain_of(PlainLine line) const {
    return plain[static_cast<std::size_t>(line)];
  }
  /// Returns whether a benchmark's header or a list of GPUs names a GPU with these words, or with any of them.
  /// words  as names_gpu() has them
  [[nodiscard]] bool has_text_of_gpu(std::string_view words) const {
    return has_text_of_any_gpu({&words, 1});
  }
  [[nodiscard]] bool has_text_of_any_gpu(std::span<const std::string_view> words) const;
  /// Returns whether a device of NET/IB has a port of this link layer: `IB` or `RoCE`.
  [[nodiscard]] bool has_ports_of(std::string_view link) const;
  /// Returns whether the text contains the output of a command, so that the user need not run it.
  [[nodiscard]] bool has_output_of(std::string_view command) const;
  /// Returns whether any process failed: an NCCL function returned an error, or a program ended with an exception.
  [[nodiscard]] bool has_failure() const;
  /// Returns whether an NCCL function returned an error in the process.
  [[nodiscard]] bool has_failed(std::uint32_t process) const;
};

}  // namespace ringside::audit
