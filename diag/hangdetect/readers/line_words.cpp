#include "diag/hangdetect/readers/line_words.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "base/engine_words.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

namespace {

/// Returns whether the text has "store" by itself: PyTorch's key-value store, and no "restored checkpoint".
bool names_a_store(std::string_view text) {
  constexpr std::string_view kStore = "store";
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(kStore); at != std::string_view::npos;
       at = text.find(kStore, at + 1)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + kStore.size())) return true;
  }
  return false;
}

/// Returns whether the backend for PyTorch reports what another rank did or did not do, and not a call that it refuses.
bool is_of_our_backend(std::string_view text) {
  if (!text.starts_with("ringside: ")) return false;
  for (const std::string_view word : {" lost rank ", " waited ", " has left the communicator",
                                      " is gone: ", " did not reach the barrier", " differ: "}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool is_of_communication(std::string_view type, std::string_view text) {
  if (names_a_store(text) || is_of_our_backend(text)) return true;
  for (const std::string_view word :
       {"gloo", "Connection", "connection", "NCCL", "nccl", "monitoredBarrier", "TCPStore",
        "Broken pipe", "Socket", "Timed out", "timed out", "collectives on ranks"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return type.find("Dist") != std::string_view::npos ||
         type.find("ChildFailed") != std::string_view::npos ||
         type.find("SignalException") != std::string_view::npos ||
         type.find("Rendezvous") != std::string_view::npos ||
         type.find("KeyboardInterrupt") != std::string_view::npos;
}

std::string_view store_host(std::string_view line) {
  constexpr std::string_view kHead = "remote=[";
  constexpr std::size_t kLongest = 80;
  const std::size_t at = line.find(kHead);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kHead.size());
  return rest.substr(0, std::min(rest.find(']'), kLongest));
}

int rank_without_id(std::string_view line) {
  const std::size_t asks = line.find("] is setting up NCCL communicator");
  const std::size_t open = asks == std::string_view::npos ? asks : line.rfind('[', asks);
  if (open == std::string_view::npos || line.find("got error") == std::string_view::npos) return -1;
  const auto rank = parse_whole(line.substr(open + 1, asks - open - 1));
  return rank && *rank >= 0 && *rank < kMostRanks ? static_cast<int>(*rank) : -1;
}

bool reports_timeout(std::string_view line) {
  for (const std::string_view words :
       {"Timeout at NCCL work", "atchdog caught", "due to a collective timeout",
        "NCCL operations have failed or timed out"}) {
    if (line.find(words) != std::string_view::npos) return true;
  }
  return false;
}

bool is_engine_timeout(std::string_view text) {
  const std::size_t wait = text.find(kWaited);
  const bool has_waited = wait != std::string_view::npos && text.substr(0, wait).ends_with(": ");
  return has_waited || text.find(" in time") != std::string_view::npos;
}

namespace {

bool has_one_of(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

}  // namespace

bool is_gpu_error(std::string_view text) {
  return has_one_of(text, {"CUDA error", "CUDA out of memory", "HIP error", "HIP out of memory"});
}

bool reports_other_size(std::string_view line) {
  return line.find("op.preamble.length <= op.nbytes") != std::string_view::npos;
}

bool names_id_key(std::string_view line) {
  return line.find("wait timeout after ") != std::string_view::npos &&
         line.find("//cuda//") != std::string_view::npos;
}

}  // namespace ringside::hang
