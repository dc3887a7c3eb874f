#include "trace/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "trace/format.h"

namespace ringside {
namespace {

constexpr const char* kPathHelp = "give a path in an existing directory that you may write to";
constexpr const char* kRoomHelp = "make room there, or give a path on another file system";

}  // namespace

Result<std::shared_ptr<TraceFileSink>> TraceFileSink::create(const std::string& path) {
  return create(path, open_for_writing(path, O_TRUNC | O_APPEND));
}

Result<std::shared_ptr<TraceFileSink>> TraceFileSink::create(const std::string& path,
                                                             UniqueFd file) {
  if (!file) return system_error(fmt::format("{}: cannot write the trace", path), errno, kPathHelp);
  std::shared_ptr<TraceFileSink> sink(new TraceFileSink(path, std::move(file)));
  const rtrace::FileHeader header;
  RINGSIDE_TRY(sink->write(std::as_bytes(std::span(&header, 1))));
  return sink;
}

Result<std::shared_ptr<TraceFileSink>> TraceFileSink::join(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file) {
    const int why = errno;
    Error error = system_error(fmt::format("{}: cannot join the trace", path), why, kPathHelp);
    if (why == ENOENT) {
      error.code = ErrorCode::NotFound;
      error.help =
          "one process of the host creates it before the others join; hosts that share no file "
          "system "
          "need a file each: --trace job.%h.rtrace";
    }
    return error;
  }
  std::array<std::byte, sizeof(rtrace::FileHeader)> start{};
  const ssize_t got = ::pread(file.get(), start.data(), start.size(), 0);
  const auto header = rtrace::read_fixed<rtrace::FileHeader>(start);
  if (got != static_cast<ssize_t>(start.size()) || header.magic != rtrace::kFileMagic ||
      header.version != rtrace::kVersion) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: not an .rtrace file of version {}", path, rtrace::kVersion),
                 "have one process create the file anew before the others join it"};
  }
  return std::shared_ptr<TraceFileSink>(new TraceFileSink(path, std::move(file)));
}

Status TraceFileSink::write(std::span<const std::byte> block) {
  ssize_t put = 0;
  do {
    put = ::write(file_.get(), block.data(), block.size());
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(block.size())) return {};
  return system_error(fmt::format("{}: cannot write the trace", path_), put < 0 ? errno : ENOSPC,
                      kRoomHelp);
}

Status append_dumps(const std::string& path, const std::map<std::int32_t, std::string>& dumps) {
  RINGSIDE_TRY(const std::shared_ptr<TraceFileSink> sink, TraceFileSink::join(path));
  return write_dumps(*sink, dumps);
}

Result<std::unique_ptr<TraceRecorder>> record_to_file(const std::string& path, TraceInfo info) {
  RINGSIDE_TRY(std::shared_ptr<TraceFileSink> sink, TraceFileSink::create(path));
  return TraceRecorder::start(std::move(sink), std::move(info));
}

Result<std::unique_ptr<TraceRecorder>> join_file(const std::string& path, TraceInfo info) {
  RINGSIDE_TRY(std::shared_ptr<TraceFileSink> sink, TraceFileSink::join(path));
  return TraceRecorder::start(std::move(sink), std::move(info));
}

}  // namespace ringside
