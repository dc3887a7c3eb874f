#include "sim/simulate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "base/fd.h"
#include "engine/collectives/record.h"
#include "sim/run_engine.h"

namespace ringside {
namespace {

constexpr int kProgressMs = 100;

/// What the child sends over the pipe; an Error's message and help follow it.
struct Answer {
  bool has_value = false;
  ErrorCode code = ErrorCode::System;
  SimResult result;
  std::uint64_t message_size = 0;
  std::uint64_t help_size = 0;
};
static_assert(std::is_trivially_copyable_v<Answer>);

std::string encode(const Result<SimResult>& result) {
  Answer answer;
  std::string texts;
  answer.has_value = result.has_value();
  if (result) {
    answer.result = *result;
  } else {
    answer.code = result.error().code;
    answer.message_size = result.error().message.size();
    answer.help_size = result.error().help.size();
    texts = result.error().message + result.error().help;
  }
  std::string bytes(sizeof answer, '\0');
  std::memcpy(bytes.data(), &answer, sizeof answer);
  return bytes + texts;
}

/// errors  the child's; System: the answer is cut short
Result<SimResult> decode(const std::string& bytes) {
  Answer answer;
  if (bytes.size() >= sizeof answer) {
    std::memcpy(&answer, bytes.data(), sizeof answer);
    if (bytes.size() == sizeof answer + answer.message_size + answer.help_size) {
      if (answer.has_value) return answer.result;
      return Error{answer.code, bytes.substr(sizeof answer, answer.message_size),
                   bytes.substr(sizeof answer + answer.message_size)};
    }
  }
  return Error{ErrorCode::System, "the simulation ended without an answer"};
}

/// One number that both processes see.
class SharedCounter {
 public:
  SharedCounter()
      : memory_(mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedCounter() {
    if (memory_ != MAP_FAILED) munmap(memory_, sizeof(std::int64_t));
  }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  /// Null where there was no memory: progress is not worth failing for.
  [[nodiscard]] volatile std::int64_t* get() const {
    return memory_ == MAP_FAILED ? nullptr : static_cast<volatile std::int64_t*>(memory_);
  }

 private:
  void* memory_;
};

/// Steps that all ranks will take together; 0 where the request cannot be planned.
std::int64_t count_steps(const SimRequest& request) {
  std::int64_t steps = 0;
  for (int rank = 0; rank < request.network->nranks(); ++rank) {
    const auto tasks = plan_channels(request.choice, request.channels, request.call, Rank{rank});
    if (!tasks) return 0;
    for (const ChannelTask& task : *tasks) steps += count_steps(record(task));
  }
  return steps;
}

[[noreturn]] void run_child(const SimRequest& request, volatile std::int64_t* steps, pid_t parent,
                            int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
  signal(SIGPIPE, SIG_IGN);
  const std::string answer = encode(run_engine(request, steps));
  const Status sent = write_all(out, std::as_bytes(std::span{answer}));
  // Not exit(): what the parent had buffered and registered for its own end is not the child's.
  _exit(sent ? 0 : 1);
}

/// Everything until the child closes its end, telling of progress meanwhile.
Result<std::string> read_answer(int in, const SimRequest& request,
                                const volatile std::int64_t* steps) {
  const bool tells = request.progress && steps != nullptr;
  const std::int64_t all = tells ? count_steps(request) : 0;
  std::string answer;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd waiting{.fd = in, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, all > 0 ? kProgressMs : -1);
    if (ready < 0 && errno != EINTR) return system_error("poll", errno);
    if (ready == 0) request.progress(static_cast<double>(*steps) / static_cast<double>(all));
    if (ready <= 0) continue;
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read from the simulation", errno);
    if (got == 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int wait_for_end(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<SimResult> simulate(const SimRequest& request) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd in{ends[0]};
  UniqueFd out{ends[1]};
  const SharedCounter steps;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno, "free memory or processes");
  if (child == 0) run_child(request, steps.get(), parent, out.get());
  out.reset();
  auto answer = read_answer(in.get(), request, steps.get());
  if (!answer) kill(child, SIGKILL);
  const int status = wait_for_end(child);
  if (!answer) return std::move(answer).error();
  if (WIFSIGNALED(status)) {
    return Error{ErrorCode::System,
                 fmt::format("the simulation died of signal {} ({})", WTERMSIG(status),
                             strsignal(WTERMSIG(status))),
                 "see what it wrote to stderr; fewer ranks or channels need less memory"};
  }
  return decode(*answer);
}

}  // namespace ringside
