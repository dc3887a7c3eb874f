#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ringside::logs {

/// The process that writes a line, by the line's prefixes. Two lines of one process have the same speaker; a process
/// whose lines come with and without NCCL's prefix has a speaker for each form.
struct Speaker {
  std::string host;                 ///< NCCL's prefix, else pdsh's or the pod's; empty: unknown
  std::int32_t pid = -1;            ///< in the container
  std::int32_t launcher_rank = -1;  ///< mpirun, srun, `[rank3]:`: rank or task in the job
  std::int32_t local_rank = -1;     ///< `[default3]:` of torchrun
  std::uint32_t file = 0;           ///< where it was first seen: the index of the file
};

/// The speakers of one shard, numbered from 0 in order of appearance. A line without any prefix has the speaker of
/// its file's name (speaker_of_file).
///
/// Threads    belongs to the worker that calls RecordSink::take(); valid until parse_logs returns
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

/// The writer by a file's name: `nccl.node-a.4711.log`, `attempt_0/3/stderr.log`, `rank3.log`. Fields that the name
/// lacks are -1 or empty.
Speaker speaker_of_file(std::string_view path);

}  // namespace ringside::logs
