#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/words.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/recording_format.h"

/// The calls that other tools recorded, in one form for all formats. Dumps for `hang`, traces for the window and
/// scenarios are made from it.
namespace ringside::recordings {

/// A process group or communicator of a recording.
struct Group {
  std::string name, description;
  int size = 0;              ///< 0: unknown
  std::vector<int> members;  ///< global ranks by group rank; empty: unknown
};

/// A call of one rank. Times are in ns of the wall clock; -1: not recorded, or it has not happened.
struct Call {
  hang::Op op = hang::Op::Other;
  std::string name;  ///< as recorded, without the backend
  int group = 0;     ///< index in Recording::groups
  std::int64_t sequence =
      -1;         ///< number among the group's collectives, or transfers; -1: not recorded
  int peer = -1;  ///< group rank of a transfer's other end; -1: unknown
  int root = -1;  ///< group rank; -1: unknown
  std::uint64_t in_count = 0;   ///< elements of the rank's input
  std::uint64_t out_count = 0;  ///< elements of the rank's output
  std::string type = {};        ///< element type in PyTorch's spelling, `BFloat16`; empty: unknown
  std::uint64_t bytes = 0;  ///< size as nccl-tests counts it: the larger one of input and output
  std::int64_t issued_ns = -1;  ///< the host enqueued it
  std::int64_t begin_ns =
      -1;                    ///< it began on the device; the host where the device is not recorded
  std::int64_t end_ns = -1;  ///< it ended there
  std::int64_t duration_ns = -1;  ///< where `begin_ns` and `end_ns` are not recorded
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};

  [[nodiscard]] bool is_transfer() const {
    return op == hang::Op::Send || op == hang::Op::Recv || op == hang::Op::Coalesced;
  }
  [[nodiscard]] bool has_ended() const { return end_ns >= 0 || duration_ns >= 0; }
};

/// A time during which a rank's GPU did something else than communicate.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// The recording of one rank.
struct Recording {
  Format format = Format::Kineto;
  std::string path;
  std::string host;  ///< empty: unknown
  std::string backend = "nccl";
  std::string gpu = {};  ///< product name of the GPUs; empty: unknown
  int rank = -1;         ///< -1: unknown
  int world = 0;         ///< 0: unknown
  std::vector<Group> groups;
  std::vector<Call> calls;              ///< in the order in which the host made them
  std::vector<Span> compute;            ///< in any order; may overlap
  std::int64_t window_end_ns = -1;      ///< until when the rank is recorded at least; -1: unknown
  bool has_device_times = true;         ///< false: times of calls are the host's
  bool is_completed_only = true;        ///< calls that have not ended are not recorded
  bool is_cut = false;                  ///< the file ends early
  std::vector<std::string> notes = {};  ///< facts that the file does not state, as text

  /// Returns the index of the group, and adds it if it does not exist.
  int group_of(const std::string& name, const std::vector<int>& members, int size);
};

/// Returns the bytes of an element of the first of the types, `Float->BFloat16`; 0 for an unknown type.
std::uint64_t element_bytes(std::string_view types);

/// Parses the bytes of a file. An export of Nsight Systems may hold several ranks.
/// path    named in errors
/// errors  Corrupt: not in the format.  NotFound: no call in it
Result<std::vector<Recording>> parse(Format format, std::string_view bytes,
                                     const std::string& path);

/// Reads a file; gzip and zstd are unpacked.
/// errors  as parse(); those of reading
Result<std::vector<Recording>> load(Format format, const std::string& path);

/// The recordings of a job, and the files that do not count.
struct Loaded {
  std::vector<Recording> recordings;  ///< by rank, one for each
  std::vector<hang::BadFile>
      bad;  ///< files that could not be read, and second recordings of a rank
};

/// Loads the files of kind Recording. A rank that the content does not state is the last number in the file's name, or
/// else the place in the order of the files. Calls without a number get one.
Loaded load(const std::vector<hang::InputFile>& files);

/// Gives recordings their ranks, and calls their numbers, as load() does.
void complete(Loaded& loaded);

/// Moves recordings of other clocks than the first one's onto it: a collective that needs every rank ends on all ranks
/// at nearly the same time. Clocks that differ by less than the ends do are kept.
/// If a time would become negative, all recordings are moved by the same time in addition.
/// returns  ranks that were moved, with the time in ns that was added to theirs relative to the first recording
std::vector<std::pair<int, std::int64_t>> align_clocks(std::vector<Recording>& recordings);

}  // namespace ringside::recordings
