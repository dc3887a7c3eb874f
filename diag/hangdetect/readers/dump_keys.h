#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace ringside::hang {

/// The keys of a dump that ringside reads, as KEY(name, text). All other keys are skipped. Only ringside's own engine
/// (engine/flight) writes the keys from Reason on, and `ringside attach` adds AskedAt.
/// source  PyTorch torch/csrc/distributed/c10d/FlightRecorder.hpp, versions 1.1 to 2.10
#define RINGSIDE_DUMP_KEYS(KEY)                      \
  KEY(Version, "version")                            \
  KEY(Entries, "entries")                            \
  KEY(PgConfig, "pg_config")                         \
  KEY(PgStatus, "pg_status")                         \
  KEY(NcclVersion, "nccl_version")                   \
  KEY(CommLibVersion, "comm_lib_version")            \
  KEY(RecordId, "record_id")                         \
  KEY(PgId, "pg_id")                                 \
  KEY(ProcessGroup, "process_group")                 \
  KEY(SeqId, "seq_id")                               \
  KEY(CollectiveSeqId, "collective_seq_id")          \
  KEY(P2pSeqId, "p2p_seq_id")                        \
  KEY(OpId, "op_id")                                 \
  KEY(ProfilingName, "profiling_name")               \
  KEY(TimeCreated, "time_created_ns")                \
  KEY(InputSizes, "input_sizes")                     \
  KEY(OutputSizes, "output_sizes")                   \
  KEY(InputTypes, "input_dtypes")                    \
  KEY(OutputTypes, "output_dtypes")                  \
  KEY(State, "state")                                \
  KEY(TimeStarted, "time_discovered_started_ns")     \
  KEY(TimeCompleted, "time_discovered_completed_ns") \
  KEY(Retired, "retired")                            \
  KEY(Timeout, "timeout_ms")                         \
  KEY(IsP2p, "is_p2p")                               \
  KEY(Frames, "frames")                              \
  KEY(Name, "name")                                  \
  KEY(Filename, "filename")                          \
  KEY(Line, "line")                                  \
  KEY(Description, "desc")                           \
  KEY(Ranks, "ranks")                                \
  KEY(LastEnqueued, "last_enqueued_collective")      \
  KEY(LastStarted, "last_started_collective")        \
  KEY(LastCompleted, "last_completed_collective")    \
  KEY(Reason, "reason")                              \
  KEY(ReasonGroup, "reason_group")                   \
  KEY(Root, "root")                                  \
  KEY(Channel, "channel")                            \
  KEY(Peer, "peer")                                  \
  KEY(Direction, "direction")                        \
  KEY(Messages, "messages")                          \
  KEY(Waiting, "waiting")                            \
  KEY(Protocol, "protocol")                          \
  KEY(SlotSize, "slot_size")                         \
  KEY(Index, "index")                                \
  KEY(AskedAt, "asked_at_ns")

/// A key of a dump's dictionaries. None: another key.
enum class Key : std::uint8_t {
  None,
#define RINGSIDE_NAME(name, text) name,
  RINGSIDE_DUMP_KEYS(RINGSIDE_NAME)
#undef RINGSIDE_NAME
};

inline constexpr auto kKeyTexts = std::to_array<std::string_view>({
#define RINGSIDE_TEXT(name, text) text,
    RINGSIDE_DUMP_KEYS(RINGSIDE_TEXT)
#undef RINGSIDE_TEXT
});
inline constexpr std::size_t kKeyCount = kKeyTexts.size() + 1;

/// Returns the key with this text, or Key::None.
inline Key key_of(std::string_view text) {
  const auto found = std::find(kKeyTexts.begin(), kKeyTexts.end(), text);
  return found == kKeyTexts.end() ? Key::None : static_cast<Key>(found - kKeyTexts.begin() + 1);
}

/// Returns the number that `text` consists of, or nothing if it has other characters.
inline std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  // The finaliser of splitmix64, over both.
  std::uint64_t x = seed * 0x9E3779B97F4A7C15U + value + 0x632BE59BD9B4E019U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = text.size();
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    hash = mix(hash, word);
    text.remove_prefix(8);
  }
  std::uint64_t word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return mix(hash, word);
}

}  // namespace ringside::hang
