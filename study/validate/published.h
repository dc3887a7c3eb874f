#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"

/// Reads published measurements of collectives from two tables, systems.csv and measured.csv.
namespace ringside::study {

/// A system whose measurements were published.
struct PublishedSystem {
  std::string name;
  std::string network;    ///< name as published: "EFA (SRD)"
  std::string tool;       ///< "nccl-tests -g 8 (1 process)"
  std::string quality;    ///< A, B, C
  std::string nccl = {};  ///< version of the measured library, as published; empty: no such column
};

/// One line of an nccl-tests table or of a similar one.
struct PublishedRow {
  std::string system;
  std::string collective;                     ///< AllReduce, SendRecv, ...
  std::string algorithm, protocol, channels;  ///< forced; empty or `auto`: the library's choice
  std::string type;
  std::string nccl;  ///< version, as published
  std::string note;
  int ranks = 0, nodes = 0;
  Bytes bytes;   ///< size as nccl-tests counts it
  Seconds time;  ///< time of one operation
};

/// Both tables.
struct Published {
  std::vector<PublishedSystem> systems;
  std::vector<PublishedRow> rows;

  /// Returns null if there is no such system.
  [[nodiscard]] const PublishedSystem* system(std::string_view name) const;
};

/// folder  contains systems.csv and measured.csv; columns are found by name, unknown ones are
///         ignored
/// errors  NotFound: no such file. Corrupt: as `file:line: what`, with the column
Result<Published> read_published(const std::string& folder);

}  // namespace ringside::study
