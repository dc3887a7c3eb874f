#include <algorithm>

#include "diag/logparse/paste.h"
#include "diag/logparse/text_search.h"

namespace ringside::logs {
namespace {

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return find_text(text, word) != std::string_view::npos;
  });
}

}  // namespace

bool is_of_stack(std::string_view text) {
  return has_one_of(
      text,
      {"NCCL ",          "NCCL:",        "NCCL_",       "RCCL ",     "nccl",    "rccl",
       "NET/",           "ibv_",         "ibverbs",     "Gloo",      "gloo/",   "ProcessGroup",
       "Watchdog",       "watchdog",     "WorkNCCL",    "libfabric", "GIN/",    "c10d",
       "TCPStore",       "Cuda failure", "HIP failure", "hipIpc",    "cudaIpc", "NVLS",
       "Got completion", "[rank",        "[Rank",       "NVRM",      "Xid",     "undefined symbol",
       "out of memory",  "Out of memory"});
}

bool is_trouble_of_stack(std::string_view text) {
  if (find_text(text, "CCL INFO ") != std::string_view::npos) return false;
  if (has_one_of(text, {"CCL WARN", "atchdog caught", "Got completion", "WorkNCCL("})) return true;
  constexpr std::size_t kHead =
      200;  // further on, it is a value among those of a program's settings
  return is_of_stack(text.substr(0, kHead)) &&
         has_one_of(text,
                    {" error",  "Error",   "ERROR",    "fail",    "Fail",     "FAIL",     "annot ",
                     "can't",   "Can't",   "ould not", "ouldn't", "nable to", "imed out", "timeout",
                     "Timeout", "refused", "reset by", "ismatch", "nvalid ",  "nexpected"});
}

}  // namespace ringside::logs
