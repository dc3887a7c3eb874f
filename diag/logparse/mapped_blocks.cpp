#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "diag/logparse/blocks.h"
#include "diag/logparse/mapping.h"

namespace ringside::logs {
namespace {

/// Reads the end of a file with pread(), because a mapping has no readable bytes after the file's end.
class EndOfFile : public ByteSource {
 public:
  EndOfFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  void start_at(std::uint64_t offset) { at_ = offset; }

  Result<std::size_t> read(std::span<char> room) override {
    for (;;) {
      const ssize_t got = ::pread(fd_, room.data(), room.size(), static_cast<off_t>(at_));
      if (got >= 0) {
        at_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return system_error(name_, errno, "its other lines are missing");
    }
  }

 private:
  int fd_;
  std::string name_;
  std::uint64_t at_ = 0;
};

class MappedBlocks : public Blocks {
 public:
  MappedBlocks(int fd, std::uint64_t from, const std::string& name)
      : fd_(fd), name_(name), at_(from), end_of_file_(fd, name) {
    struct stat status {};
    if (::fstat(fd, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::span<const char> next(std::size_t kept) override {
    if (rest_ == nullptr && window_.was_cut()) {
      status_ = Error{ErrorCode::Corrupt, name_ + ": was made shorter while it was read",
                      "what was in it up to there was read; audit again what replaced it"};
      return {place(), 0};
    }
    if (rest_ == nullptr && !map_next(at_ - kept)) {
      end_of_file_.start_at(at_);
      std::span<const char> before;
      if (kept > 0) before = {place() - kept, kept};
      rest_ = copied_blocks(end_of_file_, before);
    }
    if (rest_ != nullptr) {
      const std::span<const char> block = rest_->next(kept);
      status_ = rest_->status();
      return block;
    }
    const char* const block = place();
    at_ += kMost;
    return {block, kMost};
  }

 private:
  /// Unmapping a window interrupts the program's other cores; with smaller windows that happens too often.
  static constexpr std::uint64_t kWindow = 8 << 20;

  /// Returns the address of the next block.
  /// shape  a window exists, as it does after any block
  [[nodiscard]] const char* place() const { return window_.data() + (at_ - window_at_); }

  /// Maps a window with the next block and the bytes before it from `from` on.
  /// returns  false: the file has ended, or cannot be mapped
  bool map_next(std::uint64_t from) {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t end = at_ + kMost + kSlack;
    if (end > size_) return false;
    if (end <= window_at_ + window_.size()) return true;
    const std::uint64_t begin = from / page * page;
    Mapping window(fd_, begin, std::min(at_ - begin + kWindow, size_ - begin));
    if (window.data() == nullptr) return false;
    window_ = std::move(window);
    window_at_ = begin;
    return true;
  }

  int fd_;
  std::string name_;
  std::uint64_t at_;        ///< file offset of the next block
  std::uint64_t size_ = 0;  ///< file size when it was opened
  Mapping window_;
  std::uint64_t window_at_ = 0;
  EndOfFile end_of_file_;
  std::unique_ptr<Blocks> rest_;  ///< reads the part that is not mapped
};

}  // namespace

std::unique_ptr<Blocks> mapped_blocks(int fd, std::uint64_t from, const std::string& name) {
  return std::make_unique<MappedBlocks>(fd, from, name);
}

}  // namespace ringside::logs
