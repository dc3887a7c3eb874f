#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

/// The parts of PyTorch's lines: the prefix before a Message's text, and the texts that several messages share. Read
/// on demand: `message_argument(record, "work")` gives the text, parse_work() its fields.
/// source  docs/formats 5.1 to 5.8
namespace ringside::logs {

/// `[rank3]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 11(tp) Rank 1] `
struct TorchPrefix {
  char severity = 0;              ///< I W E F; 0: not a line of PyTorch's C++ logger
  std::int32_t global_rank = -1;  ///< `[rank3]:`, 2.2+ and after init_process_group
  std::int32_t group_rank = -1;   ///< in the process group: not the global rank
  std::int32_t pg_id = -1;        ///< numbered in this process: do not compare between ranks
  std::string_view pg_guid;       ///< 2.5+
  std::string_view pg_desc;       ///< 2.4+
  std::string_view file;          ///< `ProcessGroupNCCL.cpp`
  std::int32_t line = -1;
  std::string_view time;  ///< `E301 10:20:30`: month and day, no year; order by the second only

  /// Returns whether the line names a group other than the default one, in which ranks have other numbers than in the job.
  [[nodiscard]] bool is_of_subgroup() const;
};

/// Returns PyTorch's prefix of a record's line, which precedes record.text().
TorchPrefix torch_prefix(const Record& record);

/// Finds `[PG ID 4 PG GUID 11(tp) Rank 1]` anywhere in a text: exceptions and lines without a logger have it there. The
/// last one counts: it sets the fields of the group, and leaves the others unchanged.
void find_torch_group(std::string_view text, TorchPrefix& prefix);

/// Returns torch_prefix(), with the group of the text if the prefix names none.
TorchPrefix torch_group(const Record& record);

/// `WorkNCCL(SeqNum=812, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000)`
struct TorchWork {
  std::int64_t sequence = -1;
  std::string_view operation;     ///< `ALLREDUCE`
  std::string_view tensor_shape;  ///< up to 2.0
  std::int64_t numel_in = -1, numel_out = -1;
  std::int64_t timeout_ms = -1;
};

/// Parses a work. The text may omit `WorkNCCL(` and `)`.
TorchWork parse_work(std::string_view text);

/// Returns the numbers of a list, `[0, 1, 5]`, `0, 1, 5` or `0-3,5`, in order, at most 2^20. Skips other words.
std::vector<std::int32_t> parse_rank_list(std::string_view text);

/// Returns the value of a key in `KEY: value, KEY: value, ...`, PyTorch's line of variables; empty if the key is
/// absent.
std::string_view value_of_key(std::string_view text, std::string_view key);

}  // namespace ringside::logs
