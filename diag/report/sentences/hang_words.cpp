#include "diag/report/sentences/hang_words.h"

#include <fmt/format.h>

#include <cctype>

#include "diag/hangdetect/verdict/call_names.h"

namespace ringside::hang {

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string capital_ranks(const std::vector<int>& ranks, std::string_view one,
                          std::string_view many) {
  return capital(ranks_that(ranks, one, many));
}

std::string in_call(const Explanation& one, std::string_view word) {
  return one.call.empty() ? "" : fmt::format(" {} {}", word, one.call);
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 160;
  return std::string(text.substr(0, kShown));
}

std::string name_of(facts::Reporter reporter) {
  // In the order of facts::Reporter.
  constexpr const char* kNames[] = {"its own log",
                                    "the other ranks",
                                    "the launcher",
                                    "the scheduler",
                                    "kubectl",
                                    "ps",
                                    "nvidia-smi",
                                    "a timer",
                                    "ncclras",
                                    "the watchdog",
                                    "monitored_barrier",
                                    "PyTorch's desync report",
                                    "PyTorch's dump analyser",
                                    "Horovod's stall inspector",
                                    "the coordination service",
                                    "the rendezvous",
                                    "the start of the job",
                                    "the creation of the communicator",
                                    "the wait for the communicator's id",
                                    "the time-outs of the other ranks",
                                    "ringside's engine",
                                    "NCCL",
                                    "a transport"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(facts::Reporter::Transport) + 1);
  return kNames[static_cast<std::size_t>(reporter)];
}

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fold_ranks(ranks));
}

std::string ranks_that(const std::vector<int>& ranks, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", ranks_text(ranks), ranks.size() > 1 ? many : one);
}

}  // namespace ringside::hang
