#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace ringside::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kEvery{200};
constexpr std::size_t kCells = 30;
// Before that, an estimate of the remaining time would fluctuate.
constexpr double kLeastToGuess = 0.02;

/// The text that an interrupt prints: made beforehand, as a signal's handler must not format.
struct InterruptText {
  std::array<std::array<char, 256>, 2> texts{};  ///< one is written while the other may be read
  std::atomic<std::int64_t> begun{0};            ///< ms of the clock; 0: the text is complete
  std::atomic<int> current{-1};                  ///< -1: nothing is being done
  std::atomic<bool> is_taken{false};
};
InterruptText interrupt_text;
constexpr std::string_view kInterrupted = "\nringside: interrupted after ";

/// Milliseconds of a clock that a signal's handler may read.
std::int64_t milliseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1000} * now.tv_sec + now.tv_nsec / 1000000;
}

/// Writes to stderr. Async-signal-safe.
void print_raw(const char* text, std::size_t length) {
  if (::write(STDERR_FILENO, text, length) < 0) {
    // stderr has no reader any more: the program ends nevertheless.
  }
}

/// Prints the time since `begun`, in seconds. Only the signal handler knows it. Async-signal-safe.
void print_time_since(std::int64_t begun) {
  print_raw(kInterrupted.data(), kInterrupted.size());
  std::array<char, 24> digits{};
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                           (milliseconds_now() - begun) / 1000);
  if (failed == std::errc{})
    print_raw(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// Sets the text that an interrupt prints.
void prepare_interrupt_text(const std::string& line) {
  const int next = interrupt_text.current.load() == 0 ? 1 : 0;
  std::array<char, 256>& text = interrupt_text.texts[static_cast<std::size_t>(next)];
  const std::size_t length = std::min(line.size(), text.size() - 1);
  std::memcpy(text.data(), line.data(), length);
  text[length] = '\0';
  interrupt_text.current.store(next);
}

extern "C" void print_and_end(int signal) {
  const int current = interrupt_text.current.load();
  if (current >= 0) {
    if (const std::int64_t begun = interrupt_text.begun.load(); begun > 0) print_time_since(begun);
    const char* const text = interrupt_text.texts[static_cast<std::size_t>(current)].data();
    print_raw(text, std::strlen(text));
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Does nothing if SIGINT is handled elsewhere or ignored. returns  whether this object reports the interrupt
bool listen_for_interrupt() {
  if (interrupt_text.is_taken.exchange(true)) return false;
  const auto before = std::signal(SIGINT, print_and_end);
  if (before != SIG_DFL) std::signal(SIGINT, before);
  return true;
}

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

std::string interrupted_tail(const std::string& what, double share) {
  return fmt::format(" s, {:.0f} % into: {}\n", 100 * std::clamp(share, 0.0, 1.0), what);
}

Progress::Progress(std::string what)
    : what_(std::move(what)),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      is_reported_(listen_for_interrupt()),
      begun_(milliseconds_now()),
      next_(begin_ + (is_terminal_ ? kFirst : kEvery)) {
  if (is_reported_)
    prepare_interrupt_text(fmt::format("\nringside: interrupted while {}\n", what_));
}

Progress::~Progress() {
  erase();
  if (!is_reported_) return;
  interrupt_text.current.store(-1);
  interrupt_text.begun.store(0);
  if (const auto handler = std::signal(SIGINT, SIG_DFL); handler != print_and_end) {
    std::signal(SIGINT, handler);  // another handler by now
  }
  interrupt_text.is_taken.store(false);
}

void Progress::show(double share, const std::string& note) {
  if (!is_terminal_ && !is_reported_) return;
  const Clock::time_point now = Clock::now();
  // A thread that comes while another draws has nothing newer to show.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || now < next_) return;
  next_ = now + kEvery;
  if (is_reported_) {
    prepare_interrupt_text(interrupted_tail(what_, share));
    interrupt_text.begun.store(begun_);
  }
  if (!is_terminal_) return;
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
