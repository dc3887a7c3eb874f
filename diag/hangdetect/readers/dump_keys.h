#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace ringside::hang {

/// The keys of a dump that mean something to us; all others are skipped.
/// source  PyTorch torch/csrc/distributed/c10d/FlightRecorder.hpp, versions 1.1 to 2.10
enum class Key : std::uint8_t {
  None,
  // top level
  Version,
  Entries,
  PgConfig,
  PgStatus,
  NcclVersion,
  CommLibVersion,
  // a call
  RecordId,
  PgId,
  ProcessGroup,
  SeqId,
  CollectiveSeqId,
  P2pSeqId,
  OpId,
  ProfilingName,
  TimeCreated,
  InputSizes,
  OutputSizes,
  InputTypes,
  OutputTypes,
  State,
  TimeStarted,
  TimeCompleted,
  Retired,
  Timeout,
  IsP2p,
  Frames,
  // a frame; Name is also a group's
  Name,
  Filename,
  Line,
  // a group
  Description,
  Ranks,
  LastEnqueued,
  LastStarted,
  LastCompleted,
  // of ringside's own engine alone (engine/flight)
  Reason,
  ReasonGroup,
  Root,
  Channel,
  Peer,
  Direction,
  Messages,
  Waiting,
  Protocol,
  SlotSize,
  Index,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::Index) + 1;

/// returns  Key::None for a text that is no key
Key key_of(std::string_view text);

/// The whole of `text` as a number.
std::optional<std::int64_t> parse_whole(std::string_view text);

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
