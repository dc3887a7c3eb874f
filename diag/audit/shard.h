#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/audit/benchmark_table.h"
#include "diag/audit/evidence.h"
#include "diag/audit/message_log.h"
#include "diag/audit/plain_lines.h"
#include "diag/audit/process_parts.h"
#include "diag/audit/topology_dump.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/ras_records.h"

namespace ringside::audit {

/// Numbers for the few distinct texts that thousands of lines repeat.
class Names {
 public:
  std::uint16_t number_of(std::string_view name);
  [[nodiscard]] const std::string& operator[](std::size_t number) const { return names_[number]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_ = {};
};

/// A thing that some speakers say: the lines, and who.
struct Said {
  Evidence evidence = {};
  std::vector<std::uint32_t> speakers = {};  ///< each some times

  void add(const Record& record) {
    evidence.add(record.place, record.speaker, record.line);
    if (!speakers.empty() && speakers.back() == record.speaker) return;
    if (speakers.size() >= most_) compact();
    speakers.push_back(record.speaker);
  }

 private:
  /// Each speaker once: lines of many processes alternate for as long as a log goes on.
  void compact();
  std::size_t most_ = 4'096;
};

/// Lines of connections that are alike.
struct EdgeKind {
  Via via = Via::Unknown;
  Direction direction = Direction::None;
  bool gdr = false;
  std::uint16_t net = 0;  ///< of Shard::nets
  friend auto operator<=>(const EdgeKind&, const EdgeKind&) = default;
};

/// What tells calls apart, and their signature: a job repeats few calls very often.
struct KnownCall {
  std::array<std::uint64_t, 5> key{};
  std::uint32_t signature = 0;
  bool is_set = false;
};

/// All calls that are kept of a part, in one number.
struct CallSum {
  /// The sum of calls s1, s2, s3 is (s1 * factor + s2) * factor + s3, modulo 2^64.
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;  ///< of their signatures, in order

  /// Puts those of `later` behind these.
  void append(const CallSum& later);
  friend bool operator==(const CallSum&, const CallSum&) = default;
};

/// What one shard of the logs says, folded as it streams by. Nothing here grows with the lines that say the
/// same thing again; connections grow with the pairs that talk, calls of collectives by 12 bytes each.
///
/// Threads  the worker that parses the shard; then the one that joins them all
class Shard : public RecordSink {
 public:
  void take(std::span<const Record> records, const SpeakerTable& speakers) override;

  std::vector<Speaker> speakers = {};
  std::vector<SpeakerParts> spoken = {};  ///< by speaker
  std::vector<CommPart> parts = {};       ///< in order of appearance
  std::vector<Link> links = {};           ///< chained by part
  std::vector<RingHop> ring_hops = {};
  std::vector<RingList> ring_lists = {};
  std::vector<std::int32_t> ring_ranks = {};  ///< of ring_lists
  std::vector<TreeUps> tree_ups = {};
  std::vector<std::int32_t> ups = {};                              ///< of tree_ups
  std::vector<CallMark> calls = {};                                ///< chained by part
  std::vector<CallSum> call_sums = {};                             ///< by part
  std::unordered_map<std::uint32_t, std::string> call_texts = {};  ///< by signature: the first line
  Names nets = {};

  std::map<std::pair<std::string, std::string>, Said> environment = {};  ///< by name and value
  std::map<std::pair<std::string, std::string>, Said> exports = {};      ///< that a script set
  std::map<std::pair<std::string, std::string>, Said> net_devices = {};  ///< by net and list
  std::map<std::string, Said> networks = {};                             ///< `Using network`
  std::map<std::pair<std::string, std::string>, Said> bootstraps =
      {};                                     ///< by interface and address
  std::map<std::string, Said> versions = {};  ///< by text
  std::map<std::string, VersionFact> version_facts = {};
  std::map<std::pair<std::string, bool>, Said> gdr_of_hca = {};  ///< by net and whether enabled
  std::array<Said, 2> gdr_of_pair = {};                          ///< by whether enabled
  std::map<EdgeKind, Said> edges = {};
  std::map<int, Said> results = {};         ///< by ncclResult
  std::map<int, Said> channel_counts = {};  ///< by collective channels
  std::vector<PatternFact> patterns = {};
  Said slow_inits = {};  ///< Init timings of 30 s or more
  std::vector<TopologyDump> dumps = {};
  std::vector<BenchmarkTable> tables = {};
  std::vector<XidFact> xids = {};
  std::vector<PythonErrorFact> python_errors = {};
  std::vector<RasFact> ras = {};
  MessageLog messages = {};
  AllPlainLines plain = {};

 private:
  void take_one(const Record& record);
  void take_edge(const Record& record);
  void take_comm_event(const Record& record);
  void take_comm_nodes(const Record& record);
  void take_call(const Record& record);
  void take_rare(const Record& record);
  void take_plain(const Record& record);
  void take_topology(const Record& record);
  std::uint32_t note_call(const Record& record, const CollCall& call);
  std::uint32_t part_of(const Record& record, std::uint64_t comm);
  std::uint32_t current_part(const Record& record);
  std::uint32_t new_part(std::uint32_t speaker);

  const SpeakerTable* table_ = nullptr;
  std::array<KnownCall, 64> known_calls_ = {};
  Said* last_edges_ = nullptr;
  EdgeKind last_kind_ = {};
  std::uint32_t last_net_ = 0;
  std::string before_ = {};  ///< the last line of text: what a progress bar belongs to
  Place before_place_ = {};
  std::map<std::string, std::uint32_t> dumpers_ = {};  ///< by host: whose dump is kept
};

}  // namespace ringside::audit
