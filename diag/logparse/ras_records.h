#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of an ncclras report, as text or JSON. Its other lines are messages of catalogue/ras.def.
/// source  docs/formats 7.1
namespace ringside::logs {

/// A row of the text's table (a group of equal communicators), or a communicator of the JSON.
struct RasComm {
  static constexpr RecordKind kKind = RecordKind::RasComm;
  bool is_json = false;
  std::int32_t group = -1;          ///< text
  std::int32_t comms = 1;           ///< in the group
  std::int32_t nodes = -1;          ///< text
  std::int32_t nranks = -1;         ///< ranks of the communicator
  std::int32_t ranks_present = -1;  ///< in the group
  std::int32_t ranks_missing = -1;  ///< JSON
  std::uint64_t hash = 0;           ///< JSON; equals the commId of the Init lines
  std::string_view status;          ///< `RUNNING`, `INIT`, ...
  std::string_view errors;          ///< `OK`, `INCOMPLETE,MISMATCH`
};

/// A rank that the report names.
struct RasRank {
  static constexpr RecordKind kKind = RecordKind::RasRank;
  enum class State : std::uint8_t { Present, Missing, Dead };
  State state = State::Present;
  bool abort_flag = false;  ///< JSON
  std::int32_t rank = -1;
  std::int32_t gpu = -1;
  std::int32_t nvml = -1;
  std::int32_t pid = -1;
  std::int32_t async_error = -1;  ///< JSON: ncclResult
  std::int64_t operation = -1;    ///< text: `has launched up to operation <k>`
  std::uint64_t hash = 0;         ///< JSON: hash of the communicator
  std::array<std::int32_t, 5> counts{
      -1, -1, -1, -1, -1};  ///< Broadcast, Reduce, AllGather, ReduceScatter, AllReduce
  std::string_view status;  ///< text: `has status <S>`
  std::string_view host;
};

}  // namespace ringside::logs
