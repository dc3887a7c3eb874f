#include "base/text_parts.h"
#include "diag/logparse/paste.h"

namespace ringside::logs {
bool is_of_stack(std::string_view text) {
  return contains_any(
      text,
      {"NCCL ",          "NCCL:",        "NCCL_",       "RCCL ",     "nccl",    "rccl",
       "NET/",           "ibv_",         "ibverbs",     "Gloo",      "gloo/",   "ProcessGroup",
       "Watchdog",       "watchdog",     "WorkNCCL",    "libfabric", "GIN/",    "c10d",
       "TCPStore",       "Cuda failure", "HIP failure", "hipIpc",    "cudaIpc", "NVLS",
       "Got completion", "[rank",        "[Rank",       "NVRM",      "Xid",     "undefined symbol",
       "out of memory",  "Out of memory"});
}

bool is_trouble_of_stack(std::string_view text) {
  if (contains(text, "CCL INFO ")) return false;
  if (contains_any(text, {"CCL WARN", "atchdog caught", "Got completion", "WorkNCCL("}))
    return true;
  constexpr std::size_t kHead = 200;  // later words are often values in a program's settings
  // Some first letters are omitted, so that both capitalisations match.
  return is_of_stack(text.substr(0, kHead)) &&
         contains_any(
             text, {" error",  "Error",   "ERROR",    "fail",    "Fail",     "FAIL",     "annot ",
                    "can't",   "Can't",   "ould not", "ouldn't", "nable to", "imed out", "timeout",
                    "Timeout", "refused", "reset by", "ismatch", "nvalid ",  "nexpected"});
}

}  // namespace ringside::logs
