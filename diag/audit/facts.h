#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diag/audit/benchmark_table.h"
#include "diag/audit/evidence.h"
#include "diag/audit/json_lines.h"
#include "diag/audit/link_matrix.h"
#include "diag/audit/message_log.h"
#include "diag/audit/plain_lines.h"
#include "diag/audit/process_parts.h"
#include "diag/audit/topology_dump.h"
#include "diag/logparse/log_files.h"
#include "diag/logparse/parse_logs.h"

/// The job model: what the logs of all ranks, taken together, say of a job. Indices everywhere: a process is
/// its place in JobFacts::processes, a host in JobFacts::hosts.
namespace ringside::audit {

struct HostFacts {
  std::string name;
  std::vector<std::uint32_t> processes = {};
  std::vector<std::int64_t> gpus = {};  ///< bus ids, sorted
  /// By net (`IB`, `Socket`): the names that its first process lists, in NCCL's order.
  std::map<std::string, std::vector<std::string>> devices = {};
};

struct ProcessFacts {
  std::int32_t host = -1;  ///< -1: no line says it
  std::int32_t pid = -1;
  std::int32_t launcher_rank = -1;
  std::int32_t rank = -1;  ///< in the largest communicator, else what the launcher says
  std::uint64_t lines = 0;
};

/// A rank of a communicator that has been heard of.
struct Member {
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::int32_t host = -1;
  std::int64_t bus_id = -1;
  std::int32_t cuda_device = -1, nvml_device = -1;
  std::int32_t coll_channels = -1;
  std::uint16_t network = 0xffff;  ///< of JobFacts::nets
  bool is_started = false, is_complete = false, is_destroyed = false, is_aborted = false;
  std::int8_t ring_gdr = -1;
  float init_s = -1, bootstrap_s = -1;
  std::uint32_t ncalls = 0;
  logs::Place first = {};
};

/// Where a ring's order comes from, best first.
enum class RingSource : std::uint8_t { Neighbours, Order, Edges, None };

struct Ring {
  RingSource source = RingSource::None;
  std::vector<std::int32_t> ranks =
      {};              ///< in send direction from rank 0; shorter than nranks: it closes early
  int crossings = -1;  ///< edges between hosts; -1: a host is not known
};

struct CommFacts {
  std::uint64_t comm_id = 0;  ///< 0: the version prints none
  std::int32_t nranks = -1;
  std::int32_t nnodes = -1;  ///< as NCCL says it, else the hosts seen
  std::int32_t mnnvl = -1;
  std::int32_t ring_channels = -1, nvls_channels = -1, p2p_channels = -1;
  bool is_rccl = false;
  bool is_guessed = false;           ///< joined without an id: by size and order
  bool has_guessed_nodes = false;    ///< nnodes is what the connections demand, and may be more
  std::vector<Member> members = {};  ///< by rank
  std::vector<Link> links = {};
  std::vector<Ring> rings = {};  ///< by channel
  /// [channel] = ranks and whom they send to, -1 the root; by rank, of those that say it
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> trees = {};
  std::set<std::int32_t> hosts = {};

  /// Hosts that take part: by name where all ranks are seen, else as NCCL counts them.
  [[nodiscard]] int nodes() const;
  [[nodiscard]] const Member* member(std::int32_t rank) const;
  /// Both ends are on one host; where a host is not known, what the line says of the way decides.
  /// shape  nodes is nodes(), which looks at all members
  [[nodiscard]] bool is_local(const Link& link, int nodes) const;
};

/// A variable's value and the processes that have it.
struct Setting {
  std::string name, value;
  std::vector<std::uint32_t> processes = {};  ///< sorted, each once
  Evidence evidence = {};
};

/// A thing that some processes say.
struct SaidBy {
  std::vector<std::uint32_t> processes = {};  ///< sorted, each once
  Evidence evidence = {};
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

/// Adds a communicator's, by host; -1: of unknown ones.
void add_local_edges(const CommFacts& comm, std::map<std::int32_t, LocalEdges>& hosts);

struct JobFacts {
  std::vector<HostFacts> hosts = {};
  std::vector<ProcessFacts> processes = {};  ///< 0 is nobody: lines without a prefix
  std::vector<CommFacts> comms = {};         ///< largest first, then in order of appearance
  std::vector<std::string> nets = {};

  std::vector<Setting> environment = {};  ///< by name, then value
  std::vector<EdgeFacts> edges = {};
  std::map<std::int32_t, LocalEdges> local_edges = {};  ///< by host; -1: of unknown ones
  std::map<std::pair<std::string, std::string>, SaidBy> net_devices =
      {};  ///< by net and list; empty: none found
  std::map<std::pair<std::string, std::string>, SaidBy> exports =
      {};  ///< that a script set: name, value
  std::map<std::string, SaidBy> networks = {};
  std::map<std::pair<std::string, std::string>, SaidBy> bootstraps =
      {};  ///< by interface and address
  std::map<std::string, SaidBy> versions = {};
  std::map<std::string, VersionFact> version_facts = {};
  std::map<std::pair<std::string, bool>, SaidBy> gdr_of_hca = {};
  std::array<SaidBy, 2> gdr_of_pair = {};
  std::map<int, SaidBy> results = {};
  std::map<int, SaidBy> channel_counts = {};
  SaidBy slow_inits = {};
  std::vector<PatternFact> patterns = {};
  std::vector<TopologyDump> dumps = {};
  std::vector<BenchmarkTable> tables = {};
  std::vector<XidFact> xids = {};
  std::vector<PythonErrorFact> python_errors = {};
  std::vector<RasFact> ras = {};
  std::vector<UnreadReport> unread_reports = {};
  std::vector<LinkMatrix> matrices = {};
  std::uint64_t torn_lines = 0;  ///< with another's beginning in them: what is absent may be lost
  MessageLog messages = {};
  AllPlainLines plain = {};
  UnreadLines unread = {};
  std::uint64_t lines = 0;                            ///< of all logs
  std::vector<logs::ParseReport::Piece> pieces = {};  ///< of files, that places are counted in
  std::size_t longest_ring =
      0;  ///< ranks, of an order that a line gives, also where nothing tells of what communicator
  bool is_of_job =
      true;  ///< false: every line could be any program's, a browser's or a web server's
  std::uint64_t stack_lines =
      0;  ///< of them read, and of the stack, a launcher, a driver or a benchmark
  std::size_t cut_at =
      0;  ///< characters: what is longer was cut or wrapped before it came here; 0: nothing was
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
  /// Hosts of the widest communicator; without one, hosts that printed anything.
  [[nodiscard]] int nodes() const;
  [[nodiscard]] logs::FileLine where(logs::Place place) const;
  [[nodiscard]] bool has_setting(std::string_view name, std::string_view value) const;
  [[nodiscard]] const Setting* setting(
      std::string_view name) const;  ///< the first value; nullptr: none
  [[nodiscard]] const PlainLines& plain_of(PlainLine line) const {
    return plain[static_cast<std::size_t>(line)];
  }
  /// A benchmark's header or a list of the machine's GPUs names a product with these words; a blank in them
  /// is also met by the end of the name.
  [[nodiscard]] bool has_text_of_gpu(std::string_view words) const;
  /// The process returned an error from a function of NCCL.
  [[nodiscard]] bool has_failed(std::uint32_t process) const;
};

}  // namespace ringside::audit
