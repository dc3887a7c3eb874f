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
  using facts::Reporter;
  switch (reporter) {
    case Reporter::Peers:
      return "the other ranks";
    case Reporter::Launcher:
      return "the launcher";
    case Reporter::Scheduler:
      return "the scheduler";
    case Reporter::Kubernetes:
      return "kubectl";
    case Reporter::ProcessTable:
      return "ps";
    case Reporter::GpuTool:
      return "nvidia-smi";
    case Reporter::Timer:
      return "a timer";
    case Reporter::Ras:
      return "ncclras";
    case Reporter::Watchdog:
      return "the watchdog";
    case Reporter::Barrier:
      return "monitored_barrier";
    case Reporter::Desync:
      return "PyTorch's desync report";
    case Reporter::Analyser:
      return "PyTorch's dump analyser";
    case Reporter::StallInspector:
      return "Horovod's stall inspector";
    case Reporter::Coordinator:
      return "the coordination service";
    case Reporter::Rendezvous:
      return "the rendezvous";
    case Reporter::Start:
      return "the start of the job";
    case Reporter::Creation:
      return "the creation of the communicator";
    case Reporter::IdWait:
      return "the wait for the communicator's id";
    case Reporter::TimeOuts:
      return "the time-outs of the other ranks";
    case Reporter::Engine:
      return "ringside's engine";
    case Reporter::Library:
      return "NCCL";
    case Reporter::Transport:
      return "a transport";
    case Reporter::Process:
      break;
  }
  return "its own log";
}

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fold_ranks(ranks));
}

std::string ranks_that(const std::vector<int>& ranks, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", ranks_text(ranks), ranks.size() > 1 ? many : one);
}

}  // namespace ringside::hang
