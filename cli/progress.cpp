#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace ringside::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kEvery{200};
constexpr std::size_t kCells = 30;
constexpr double kLeastToGuess = 0.02;  // before that, a guess of what is left would jump about

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string left(double share, Seconds elapsed) {
  if (share < kLeastToGuess || share >= 1) return {};
  const auto seconds = static_cast<long>(elapsed.count() * (1 - share) / share + 0.5);
  if (seconds < 60) return fmt::format(", {} s left", seconds);
  if (seconds < 3600) return fmt::format(", {}:{:02} min left", seconds / 60, seconds % 60);
  return fmt::format(", {}:{:02} h left", seconds / 3600, seconds / 60 % 60);
}

}  // namespace

std::string progress_line(const std::string& what, double share, Seconds elapsed,
                          const std::string& note, std::size_t width) {
  share = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kCells);
  std::string line = fmt::format("{} [{:<{}}] {:3.0f} %{}", what, std::string(filled, '#'), kCells,
                                 share * 100, left(share, elapsed));
  if (!note.empty()) line += ", " + note;
  return line.substr(0, width);
}

Progress::Progress(std::string what)
    : what_(std::move(what)), is_terminal_(::isatty(STDERR_FILENO) == 1), next_(begin_ + kFirst) {}

Progress::~Progress() { erase(); }

void Progress::show(double share, const std::string& note) {
  if (!is_terminal_) return;
  const Clock::time_point now = Clock::now();
  // Whoever comes while another draws has nothing newer to say.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || now < next_) return;
  next_ = now + kEvery;
  is_drawn_ = true;
  // One column stays free: a full line would wrap on some terminals.
  const std::string line = progress_line(what_, share, now - begin_, note, terminal_width() - 1);
  fmt::print(stderr, "\r{}\033[K", line);
  std::fflush(stderr);
}

void Progress::erase() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_drawn_, false)) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  next_ = Clock::time_point{};  // drawn again at once: the line was there before
}

}  // namespace ringside::cli
