#include "diag/logparse/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/read_file.h"
#include "diag/logparse/blocks.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kCompressedBlock =
    64 << 10;  ///< bytes of a compressed file that are read at a time

/// Reads a file, a pipe or a device.
class FdSource : public ByteSource {
 public:
  FdSource(std::string name, UniqueFd owned, int fd, std::string head)
      : name_(std::move(name)), owned_(std::move(owned)), fd_(fd), head_(std::move(head)) {}

  Result<std::size_t> read(std::span<char> room) override {
    if (!head_.empty()) {
      const std::size_t size = std::min(head_.size(), room.size());
      std::memcpy(room.data(), head_.data(), size);
      head_.erase(0, size);
      return size;
    }
    for (;;) {
      const ssize_t got = ::read(fd_, room.data(), room.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_error(name_, errno, "its other lines are missing");
    }
  }

  /// Large files are mapped instead of copied. Part of standard input may have been read before.
  std::unique_ptr<Blocks> blocks() override {
    constexpr off_t kLarge = 1 << 20;  // bytes; for less, mapping costs more than copying
    struct stat status {};
    const bool is_large =
        ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= kLarge;
    const off_t at = is_large ? ::lseek(fd_, 0, SEEK_CUR) : -1;
    if (at < 0) return copied_blocks(*this);
    return mapped_blocks(fd_, static_cast<std::uint64_t>(at) - head_.size(), name_);
  }

  /// Reads the first bytes; read() returns them again.
  Result<std::string_view> peek() {
    std::array<char, 4096> head;
    while (head_.size() < 4) {
      const ssize_t got = ::read(fd_, head.data(), head.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error(name_, errno, "check that it is a readable file");
      if (got == 0) break;
      head_.append(head.data(), static_cast<std::size_t>(got));
    }
    return std::string_view(head_);
  }

 private:
  std::string name_;
  UniqueFd owned_;
  int fd_;
  std::string head_;
};

Error damaged(const std::string& name, const char* format, const char* why) {
  return {ErrorCode::Corrupt, fmt::format("{}: {} data {}", name, format, why),
          "what came before it was read; copy the file again for the rest"};
}

class GzipSource : public ByteSource {
 public:
  GzipSource(std::string name, std::unique_ptr<FdSource> inner)
      : name_(std::move(name)), inner_(std::move(inner)), block_(kCompressedBlock) {
    ::inflateInit2(&stream_,
                   15 + 32);  // the largest window; the header decides between gzip and zlib
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(std::span<char> room) override {
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(room.size());
    while (stream_.avail_out == room.size()) {
      if (stream_.avail_in == 0) {
        RINGSIDE_TRY(const std::size_t got, inner_->read(block_));
        if (got == 0) {
          if (is_between_) return std::size_t{0};
          return damaged(name_, "gzip", "ends early");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
        stream_.avail_in = static_cast<uInt>(got);
      }
      is_between_ = false;
      const int state = ::inflate(&stream_, Z_NO_FLUSH);
      if (state ==
          Z_STREAM_END) {  // another member may follow, as in the output of `cat a.gz b.gz`
        is_between_ = true;
        ::inflateReset(&stream_);
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        return damaged(name_, "gzip", "is damaged");
      }
    }
    return room.size() - stream_.avail_out;
  }

 private:
  std::string name_;
  std::unique_ptr<FdSource> inner_;
  std::vector<char> block_;
  z_stream stream_{};
  bool is_between_ = true;  ///< members
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::string name, std::unique_ptr<FdSource> inner)
      : name_(std::move(name)),
        inner_(std::move(inner)),
        block_(kCompressedBlock),
        stream_(::ZSTD_createDStream()) {}
  ~ZstdSource() override { ::ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<std::size_t> read(std::span<char> room) override {
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !has_more_) {
        RINGSIDE_TRY(const std::size_t got, inner_->read(block_));
        if (got == 0) {
          if (is_between_) return std::size_t{0};
          return damaged(name_, "zstd", "ends early");
        }
        in_ = {block_.data(), got, 0};
      }
      const std::size_t state = ::ZSTD_decompressStream(stream_, &out, &in_);
      if (::ZSTD_isError(state) != 0) return damaged(name_, "zstd", "is damaged");
      is_between_ = state == 0;
      has_more_ = !is_between_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  std::string name_;
  std::unique_ptr<FdSource> inner_;
  std::vector<char> block_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_{};
  bool is_between_ = true;  ///< frames
  bool has_more_ = false;   ///< the unpacked data did not fit into the buffer
};

}  // namespace

std::unique_ptr<Blocks> ByteSource::blocks() { return copied_blocks(*this); }

Compression compression_of(std::span<const char> head) {
  const std::string_view text(head.data(), head.size());
  if (text.starts_with("\x1f\x8b")) return Compression::Gzip;
  if (text.starts_with("\x28\xb5\x2f\xfd")) return Compression::Zstd;
  return Compression::None;
}

const char* binary_kind(std::span<const char> head) {
  const std::string_view text(head.data(), head.size());
  if (text.starts_with("\x7f"
                       "ELF"))
    return "an executable";
  if (text.starts_with("PK\x03\x04")) return "a zip archive";
  if (text.starts_with("\x89PNG")) return "a picture";
  if (text.starts_with("\xff\xd8\xff")) return "a picture";
  if (text.starts_with("%PDF")) return "a PDF";
  if (text.starts_with("BZh")) return "bzip2 data";
  if (text.starts_with(std::string_view("\xfd"
                                        "7zXZ",
                                        5)))
    return "xz data";
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) return "a pickle";
  if (text.size() > 262 && text.substr(257, 5) == "ustar") return "a tar archive";
  // A truncated log starts with zeros, and a log may have any encoding; both contain few other control characters.
  std::size_t control = 0;
  std::size_t counted = 0;
  for (const char c : text.substr(0, 4096)) {
    if (c == '\0') continue;
    ++counted;
    control += static_cast<unsigned char>(c) < 0x20 &&
               std::string_view("\t\n\r\x1b\b\f").find(c) == text.npos;
  }
  return counted >= 64 && control * 10 > counted ? "binary data" : nullptr;
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& name, std::uint64_t begin,
                                                Clock& clock) {
  UniqueFd owned;
  int fd = STDIN_FILENO;
  std::string head_of_pipe;
  if (name != "-") {
    Result<OpenedFile> opened = open_to_read(name, clock);
    if (!opened) {
      Error error = opened.error();
      if (error.help.empty())
        error.help = "its lines are missing: check the path and the permissions";
      return error;
    }
    owned = std::move(opened->fd);
    head_of_pipe = std::move(opened->head);
    fd = owned.get();
  }
  auto file = std::make_unique<FdSource>(name, std::move(owned), fd, std::move(head_of_pipe));
  if (begin > 0) {
    if (::lseek(fd, static_cast<off_t>(begin), SEEK_SET) < 0) return system_error(name, errno);
    return std::unique_ptr<ByteSource>(std::move(file));
  }
  RINGSIDE_TRY(const std::string_view head, file->peek());
  switch (compression_of(head)) {
    case Compression::Gzip:
      return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(name, std::move(file)));
    case Compression::Zstd:
      return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(name, std::move(file)));
    case Compression::None:
      break;
  }
  if (const char* kind = binary_kind(head)) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}, no log: it was not read", name, kind),
                 "omit it, or unpack it first"};
  }
  return std::unique_ptr<ByteSource>(std::move(file));
}

}  // namespace ringside::logs
