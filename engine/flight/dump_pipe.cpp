#include "engine/flight/dump_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fd.h"

namespace ringside {
namespace {

/// A pipe without writers always polls as readable, so the thread reads it at this interval instead.
constexpr std::chrono::milliseconds kLookEvery{100};

}  // namespace

class DumpPipe::Impl {
 public:
  Impl(std::string path, UniqueFd fd, OnRequest on_request)
      : path_(std::move(path)),
        fd_(std::move(fd)),
        on_request_(std::move(on_request)),
        thread_([this](const std::stop_token& stop) { look(stop); }) {}
  ~Impl() { ::unlink(path_.c_str()); }

 private:
  void look(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!sleep_.wait_for(lock, stop, kLookEvery, [&] { return stop.stop_requested(); })) {
      std::array<char, 128> text{};
      if (::read(fd_.get(), text.data(), text.size()) > 0) on_request_();
    }
  }

  const std::string path_;
  const UniqueFd fd_;
  const OnRequest on_request_;
  std::mutex mutex_;
  std::condition_variable_any sleep_;
  std::jthread
      thread_;  // last member: the thread ends before the members that it uses are destroyed
};

Result<std::unique_ptr<DumpPipe>> DumpPipe::make(const std::string& path, OnRequest on_request) {
  if ((::unlink(path.c_str()) != 0 && errno != ENOENT) || ::mkfifo(path.c_str(), 0600) != 0) {
    return system_error(fmt::format("no pipe at {}", path), errno);
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return system_error(fmt::format("cannot open the pipe {}", path), errno);
  return std::unique_ptr<DumpPipe>(
      new DumpPipe(std::make_unique<Impl>(path, std::move(fd), std::move(on_request))));
}

DumpPipe::DumpPipe(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DumpPipe::~DumpPipe() = default;

}  // namespace ringside
