#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"

/// Measurements of collectives that others have published: two tables, systems.csv and measured.csv.
namespace ringside::study {

struct PublishedSystem {
  std::string name;
  std::string network;    ///< in its own words: "EFA (SRD)"
  std::string tool;       ///< "nccl-tests -g 8 (1 process)"
  std::string quality;    ///< A, B, C
  std::string nccl = {};  ///< version of the measured library, as published; empty: no such column
};

/// One line of nccl-tests' table, or one like it.
struct PublishedRow {
  std::string system;
  std::string collective;                     ///< AllReduce, SendRecv, ...
  std::string algorithm, protocol, channels;  ///< forced; empty or `auto`: the library's choice
  std::string type;
  std::string nccl;  ///< version, as published
  std::string note;
  int ranks = 0, nodes = 0;
  Bytes bytes;   ///< as nccl-tests counts
  Seconds time;  ///< of one operation
};

struct Published {
  std::vector<PublishedSystem> systems;
  std::vector<PublishedRow> rows;

  [[nodiscard]] const PublishedSystem* system(std::string_view name) const;  ///< nullptr: not there
};

/// folder  with systems.csv and measured.csv; columns are found by their names, others are ignored
/// errors  NotFound: no such file. Corrupt: as `file:line: what`, with the column
Result<Published> read_published(const std::string& folder);

}  // namespace ringside::study
