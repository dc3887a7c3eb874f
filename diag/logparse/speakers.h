#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ringside::logs {

/// A speaker is the writer of a line, identified by the line's prefixes. Lines of one process have the same speaker,
/// except that lines with and without NCCL's prefix have different ones.
struct Speaker {
  std::string host;                 ///< NCCL's prefix, else pdsh's or the pod's; empty: unknown
  std::int32_t pid = -1;            ///< process id in its container; -1: unknown
  std::int32_t launcher_rank = -1;  ///< mpirun, srun, `[rank3]:`: rank or task in the job
  std::int32_t local_rank = -1;     ///< `[default3]:` of torchrun
  std::uint32_t file = 0;           ///< index of the file in which it first appears
};

/// The speakers of one shard, numbered from 0 in order of appearance. A line without any prefix has the speaker of
/// its file's name (speaker_of_file).
///
/// Threads    used by the worker that calls RecordSink::take()
/// Ownership  valid until parse_logs() returns
class SpeakerTable {
 public:
  SpeakerTable();
  ~SpeakerTable();
  SpeakerTable(const SpeakerTable&) = delete;
  SpeakerTable& operator=(const SpeakerTable&) = delete;

  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] const Speaker& operator[](std::uint32_t id) const;

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Returns the writer that a file's name shows: `nccl.node-a.4711.log`, `attempt_0/3/stderr.log`, `rank3.log`. Fields
/// that the name lacks are -1 or empty.
Speaker speaker_of_file(std::string_view path);

}  // namespace ringside::logs
