#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/fd.h"
#include "ringside/trace_reader.h"
#include "trace/decode.h"
#include "trace/format.h"

namespace ringside {
namespace {

/// Introductions that are kept. Chosen: more than a host runs; a forged file may contain millions.
constexpr std::size_t kMostProcesses = 4096;

/// Returns the first place at or behind `from` where a frame may begin; the end where there is none.
std::size_t next_magic(std::span<const std::byte> bytes, std::size_t from) {
  const auto magic = std::as_bytes(std::span(rtrace::kFrameMagic));
  const auto rest = bytes.subspan(std::min(from, bytes.size()));
  const auto found = std::search(rest.begin(), rest.end(), magic.begin(), magic.end());
  return static_cast<std::size_t>(found - rest.begin()) + (bytes.size() - rest.size());
}

}  // namespace

Result<TraceFile> TraceFile::open(const std::string& path) { return open_begin(path, SIZE_MAX); }

Result<TraceFile> TraceFile::open_begin(const std::string& path, std::size_t most_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    const int why = errno;
    Error error = system_error(path, why, "give the path of an .rtrace file");
    if (why == ENOENT) error.code = ErrorCode::NotFound;
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: not a regular file", path),
                 "a trace is read in place: give the path of an .rtrace file"};
  }
  if (std::cmp_greater(status.st_size, SIZE_MAX)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: larger than the memory of a 32-bit program", path),
                 "record a shorter run, or open it with the 64-bit ringside"};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return parse({}, path);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return system_error(fmt::format("{}: cannot map it", path), errno);
  std::shared_ptr<const void> mapping(
      mapped, [size](const void* at) { ::munmap(const_cast<void*>(at), size); });
  const std::span all(static_cast<const std::byte*>(mapped), size);
  auto trace = parse(all.first(std::min(size, most_bytes)), path, most_bytes < size);
  if (trace) {
    trace->mapping_ = std::move(mapping);
    trace->mapped_ = all;
  }
  return trace;
}

TraceFile TraceFile::whole() const {
  TraceFile trace;
  trace.mapping_ = mapping_;
  trace.mapped_ = mapped_;
  trace.bytes_ = mapping_ ? mapped_ : bytes_;
  trace.scan(false);
  return trace;
}

Result<TraceFile> TraceFile::parse(std::span<const std::byte> bytes, const std::string& name) {
  return parse(bytes, name, false);
}

Result<TraceFile> TraceFile::parse(std::span<const std::byte> bytes, const std::string& name,
                                   bool is_cut) {
  const bool is_long_enough = bytes.size() >= sizeof(rtrace::FileHeader);
  const auto header =
      is_long_enough ? rtrace::read_fixed<rtrace::FileHeader>(bytes) : rtrace::FileHeader{{}, 0, 0};
  if (header.magic != rtrace::kFileMagic) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: not an .rtrace file: {}", name,
                             is_long_enough ? "its first 8 bytes say otherwise"
                                            : fmt::format("{} bytes", bytes.size())),
                 "give a file that a run of ringside has recorded"};
  }
  if (header.version != rtrace::kVersion) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: version {} of the .rtrace format; this ringside reads {}", name,
                             header.version, rtrace::kVersion),
                 "read it with the ringside that wrote it, or a newer one"};
  }
  TraceFile trace;
  trace.bytes_ = bytes;
  trace.scan(is_cut);
  return trace;
}

void TraceFile::scan(bool is_cut) {
  std::size_t at = sizeof(rtrace::FileHeader);
  while (at < bytes_.size()) {
    const auto rest = bytes_.subspan(at);
    if (rest.size() >= sizeof(rtrace::Frame)) {
      const auto frame = rtrace::read_fixed<rtrace::Frame>(rest);
      const auto behind = rest.subspan(sizeof frame);
      if (rtrace::is_plausible(frame, behind.size())) {
        const auto payload = behind.first(frame.payload_bytes);
        if (rtrace::checksum_of(payload, frame.pid) == frame.checksum) {
          take(payload, {at + sizeof frame, frame.payload_bytes, frame.pid});
          at += sizeof frame + payload.size();
          continue;
        }
      }
    }
    const std::size_t next = next_magic(bytes_, at + 1);
    if (is_cut && next == bytes_.size()) break;
    counts_.skipped_bytes += next - at;
    last_gap_ = blocks_.size();
    counts_.is_torn_at_end = next == bytes_.size();
    at = next;
  }
}

void TraceFile::take(std::span<const std::byte> payload, Place place) {
  TraceBlock block;
  TraceInfo info;
  switch (BlockDecoder::decode(payload, block, info)) {
    case BlockContent::Events: {
      std::uint64_t readable = 0;
      for (std::size_t i = 0; i < block.size(); ++i) readable += block.is_readable(i) ? 1U : 0U;
      counts_.blocks += 1;
      counts_.events += readable;
      counts_.unreadable_events += block.size() - readable;
      blocks_.push_back(place);
      return;
    }
    case BlockContent::Info:
      counts_.processes += 1;
      if (processes_.size() < kMostProcesses) processes_.push_back(std::move(info));
      return;
    case BlockContent::Dump: {
      std::unique_ptr<std::uint64_t[]> copy;
      take_dump(BlockDecoder::dump(payload, copy), place);
      return;
    }
    case BlockContent::Unknown:
      counts_.unknown_blocks += 1;
      return;
    case BlockContent::Malformed:
      counts_.malformed_blocks += 1;
      last_gap_ = blocks_.size();
      return;
  }
}

/// Parts of a dump follow one another in the file. A part that continues no dump is of one whose beginning was lost.
void TraceFile::take_dump(const TraceDumpPart& part, Place place) {
  const std::uint64_t size = part.bytes.size();
  const bool is_sound = part.rank >= 0 && size > 0 && part.total_bytes >= size &&
                        part.offset <= part.total_bytes - size;
  if (!is_sound) {
    counts_.malformed_blocks += 1;
    return;
  }
  DumpPlaces& dump = dumps_[part.rank];
  if (part.offset == 0) {
    if (dump.is_whole()) --counts_.dumps;
    dump = {{}, 0, part.total_bytes};
  }
  if (part.offset != dump.held || part.total_bytes != dump.total) return;
  dump.parts.push_back(place);
  dump.held += size;
  if (dump.is_whole()) ++counts_.dumps;
}

std::map<std::int32_t, std::string> TraceFile::dumps() const {
  std::map<std::int32_t, std::string> all;
  for (const auto& [rank, places] : dumps_) {
    if (!places.is_whole()) continue;
    std::string& text = all[rank];
    for (const Place& place : places.parts) {
      std::unique_ptr<std::uint64_t[]> copy;
      const TraceDumpPart part = BlockDecoder::dump(
          bytes_.subspan(static_cast<std::size_t>(place.offset), place.bytes), copy);
      text.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
    }
  }
  return all;
}

TraceBlock TraceFile::block(std::size_t index) const {
  RINGSIDE_ASSERT(index < blocks_.size(), "block {} of {}", index, blocks_.size());
  const Place& place = blocks_[index];
  return BlockDecoder::events(bytes_.subspan(static_cast<std::size_t>(place.offset), place.bytes),
                              place.pid);
}

}  // namespace ringside
