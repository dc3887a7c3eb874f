#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/audit/call_list.h"
#include "diag/audit/json_lines.h"
#include "diag/audit/process_parts.h"
#include "diag/audit/said_tables.h"
#include "diag/facts/reader.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/ras_records.h"

namespace ringside::audit {

/// Interns texts that many lines repeat: assigns each distinct text a number.
class Names {
 public:
  /// Returns the number of a text; adds the text if it is new. After 1,000 texts, new ones get the number of the last one,
  /// so that forged lines cannot take all memory.
  std::uint16_t number_of(std::string_view name);
  [[nodiscard]] const std::string& operator[](std::size_t number) const { return names_[number]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_ = {};
};

/// A set of speakers.
class SpeakerSet {
 public:
  void add(std::uint32_t speaker) {
    if (speaker == last_) return;
    last_ = speaker;
    if (bits_.empty()) return add_to_few(speaker);
    const std::size_t word = speaker / 64;
    if (word >= bits_.size()) bits_.resize(word + word / 2 + 1);
    bits_[word] |= std::uint64_t{1} << (speaker % 64);
  }

  /// Calls take() for each speaker, possibly twice for some.
  template <typename F>
  void for_each(F&& take) const {
    for (const std::uint32_t speaker : few_) take(speaker);
    for (std::size_t word = 0; word < bits_.size(); ++word) {
      for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        take(static_cast<std::uint32_t>(word * 64 +
                                        static_cast<std::size_t>(__builtin_ctzll(left))));
      }
    }
  }

 private:
  void add_to_few(std::uint32_t speaker);

  std::uint32_t last_ = kNone;
  std::vector<std::uint32_t> few_ = {};   ///< used while there are few speakers
  std::vector<std::uint64_t> bits_ = {};  ///< bit i: speaker i; used for many speakers
};

/// The lines that state a fact, and their speakers.
struct Said {
  Evidence evidence = {};
  SpeakerSet speakers = {};

  void add(const logs::Record& record) {
    evidence.add(record.place, record.speaker, record.line);
    speakers.add(record.speaker);
  }
};

/// The properties that group connection lines.
struct EdgeKind {
  logs::Via via = logs::Via::Unknown;
  logs::Direction direction = logs::Direction::None;
  bool gdr = false;
  std::uint16_t net = 0;  ///< index of Shard::nets
  friend auto operator<=>(const EdgeKind&, const EdgeKind&) = default;
};

/// A cache entry that maps a call's arguments to its signature, because a job repeats few different calls.
struct KnownCall {
  using Key = std::array<std::uint64_t, 5>;
  Key key{};
  std::uint32_t signature = 0;
  std::uint16_t id = 0;  ///< as CallList::id_of() returns it
};

/// Collects the facts of one shard of the logs while it is read; join_shards() merges the shards.
///
/// Memory   repeated lines need no additional memory; connections grow with the connected pairs of ranks, collective
///          calls take 8 bytes each
/// Threads  used by the worker that parses the shard, then by the thread that joins
class Shard : public logs::RecordSink, public SaidTables<Said>, public StatedLists {
 public:
  /// Calls that are kept; further calls count as lost
  static constexpr std::size_t kMostCalls = 8'000'000;

  void take(std::span<const logs::Record> records, const logs::SpeakerTable& speakers) override;

  std::vector<logs::Speaker> speakers = {};
  std::vector<SpeakerParts> spoken = {};      ///< by speaker
  std::vector<CommPart> parts = {};           ///< in order of appearance
  std::vector<std::vector<Link>> links = {};  ///< by part
  std::vector<RingHop> ring_hops = {};
  std::vector<RingList> ring_lists = {};
  std::vector<std::int32_t> ring_ranks = {};  ///< contents of ring_lists
  std::vector<TreeUps> tree_ups = {};
  std::vector<std::int32_t> ups = {};                              ///< contents of tree_ups
  CallList calls = {};                                             ///< in the order of their lines
  std::unordered_map<std::uint32_t, std::string> call_texts = {};  ///< first line by signature
  Names nets = {};

  std::map<std::pair<std::string, std::string>, Said> environment = {};  ///< by name and value
  std::map<EdgeKind, Said> edges = {};
  bool is_of_job = false;           ///< a line belongs to a multi-process job
  std::size_t longest = 0;          ///< length of the longest line
  std::uint64_t longest_kinds = 0;  ///< bit set of the RecordKinds of the longest lines

  [[nodiscard]] std::vector<UnreadReport> unread_reports() const { return json_.unread(); }

 private:
  void take_one(const logs::Record& record);
  void note_length(const logs::Record& record);
  void fetch(const logs::Record& record) const;
  void take_edge(const logs::Record& record);
  void take_comm_event(const logs::Record& record);
  void begin_part(const logs::Record& record, const logs::CommEvent& event);
  void complete_part(const logs::Record& record, const logs::CommEvent& event);
  void end_part(const logs::Record& record, const logs::CommEvent& event);
  void fill_part(std::uint32_t index, const logs::CommEvent& event);
  void take_comm_nodes(const logs::Record& record);
  void take_call(const logs::Record& record);
  void take_fact(const logs::Record& record);
  void take_message(const logs::Record& record);
  void take_version(const logs::Record& record);
  void take_setting(const logs::Record& record);
  void take_net_devices(const logs::Record& record);
  void take_network_in_use(const logs::Record& record);
  void take_init_timings(const logs::Record& record);
  void take_channel_counts(const logs::Record& record);
  void take_ring_order(const logs::Record& record);
  void take_plain(const logs::Record& record);
  void take_reasons(const logs::Record& record);
  void keep_plain(const logs::Record& record, std::size_t line);
  void keep_occupied(const logs::Record& record);
  void note_unread(const logs::Record& record, const PlainSet& lines);
  void take_topology(const logs::Record& record);
  const KnownCall& note_call(const logs::Record& record, const logs::CollCall& call);
  std::uint32_t part_of(const logs::Record& record, std::uint64_t comm);
  std::uint32_t current_part(const logs::Record& record);
  /// Returns the part of a line that NCCL prints before `Init COMPLETE`. If the current part is already complete, the
  /// line belongs to a new communicator whose `Init START` is lost.
  std::uint32_t setup_part(const logs::Record& record);
  std::uint32_t new_part(std::uint32_t speaker);
  static std::uint32_t find_part(const SpeakerParts& speaker, std::uint64_t comm);
  void name_part(std::uint32_t index, std::uint64_t comm);

  const logs::SpeakerTable* table_ = nullptr;
  facts::FactReader reader_{stated, facts::Scope::Failures};
  std::array<KnownCall, 64> known_calls_ = {};
  KnownCall torn_call_ = {.signature = kAnyCall, .id = calls.id_of(kAnyCall)};
  Said* last_edges_ = nullptr;
  EdgeKind last_kind_ = {};
  std::uint32_t last_net_ = 0;
  std::string before_ = {};  ///< the last text line, which may label a progress bar
  logs::Place before_place_ = {};
  logs::RecordKind last_plain_ = logs::RecordKind::Text;
  bool is_after_last_error_ = false;
  JsonLines json_ = {};
  LinkMatrixLines matrix_lines_ = {};
  CapabilityLines capability_lines_ = {};
  std::set<std::string> dumpers_ = {};  ///< hosts with a kept topology dump
};

}  // namespace ringside::audit
