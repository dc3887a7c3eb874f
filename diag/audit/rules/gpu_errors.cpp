#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Reads `39.49 GiB` after a key.  returns  GiB; nullopt: not in the text
std::optional<double> gib_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string rest(text.substr(at + key.size(), 24));
  char* end = nullptr;
  const double number = std::strtod(rest.c_str(), &end);
  if (end == rest.c_str()) return std::nullopt;
  const std::string_view unit = std::string_view(end).substr(0, 4);
  if (unit == " GiB") return number;
  if (unit == " MiB") return number / 1'024;
  return std::nullopt;
}

/// The figures in PyTorch's report on a full GPU.
struct MemoryUse {
  std::optional<double> total, free, mine;
};
MemoryUse memory_use(std::string_view text) {
  MemoryUse use;
  use.total = gib_behind(text, "total capacity of ");
  use.free = gib_behind(text, "of which ");
  use.mine = gib_behind(text, "this process has ");
  if (use.total) return use;
  // Up to 2.1: `(GPU 0; 39.49 GiB total capacity; 7.96 GiB already allocated; 1 MiB free; 8 GiB reserved ...)`
  const std::size_t open = text.find("(GPU ");
  if (open == std::string_view::npos) return use;
  std::string_view rest = text.substr(open);
  for (std::size_t semicolon = rest.find("; "); semicolon != std::string_view::npos;
       semicolon = rest.find("; ")) {
    rest.remove_prefix(semicolon);
    const std::string_view part = rest.substr(0, rest.find("; ", 2));
    const std::optional<double> number = gib_behind(part, "; ");
    if (contains(part, "total capacity")) use.total = number;
    if (contains(part, " free")) use.free = number;
    if (contains(part, "reserved")) use.mine = number;
    rest.remove_prefix(2);
  }
  return use;
}

bool is_out_of_memory(std::string_view text) {
  const std::string low = lower_case(text);
  return contains_any(low, {"out of memory", "cudaerrormemoryallocation", "hip_error_outofmemory",
                            "cuda failure 2 '", "failed to cuda malloc", "failed to cuda calloc"});
}

/// Returns whether the text states the reason of a CUDA error that has its own finding.
bool has_reason(std::string_view text) {
  static const PlainSet kReasons = [] {
    PlainSet reasons;
#define RINGSIDE_REASON(name, id, severity, title, cause, fix) \
  if (is_a(#id, "cuda_error")) reasons.set(static_cast<std::size_t>(PlainLine::name));
#include "diag/audit/reasons/all.def"
    return reasons;
  }();
  return (plain_lines_of(text) & kReasons).any();
}

/// Lines of one CUDA error, and the processes that print them.
struct Complaint {
  Evidence evidence = {};
  std::vector<std::uint32_t> who = {};
  std::vector<int> ranks = {};
  std::string text = {};   ///< the error of the first line
  std::string whole = {};  ///< the whole first line

  void add(const QuotedLine& line, std::int32_t rank, std::string_view error) {
    evidence.add(line);
    who.push_back(line.process);
    if (rank >= 0) ranks.push_back(rank);
    if (text.empty()) text = error;
    if (whole.empty()) whole = line.text;
  }
};

/// Returns the last error of a program's own exception, without the advice on later lines.
std::string first_sentence(std::string_view text) {
  for (const std::string_view end : {"\\n", "\n", ". "}) text = text.substr(0, text.find(end));
  return std::string(text.substr(0, 100));
}

void report_out_of_memory(const Complaint& full, Findings& findings) {
  const MemoryUse use = memory_use(full.whole);
  std::string whose;
  bool is_others = false;
  if (use.total && use.mine) {
    const double others = *use.total - *use.mine - use.free.value_or(0);
    // The driver and a context use less than this.
    constexpr double kWorthNaming_gib = 2;
    is_others = others > kWorthNaming_gib && others > *use.mine / 4;
    whose = fmt::format("; {} {:.1f} of {:.1f} GiB of it",
                        is_others ? "other processes hold" : "this process holds",
                        is_others ? others : *use.mine, *use.total);
  }
  Finding& finding =
      findings.add("gpu_out_of_memory", Severity::Error,
                   "the memory of a GPU is full: CUDA out of memory" + whose, full.evidence);
  findings.add_processes(finding, full.who);
  finding.ranks.insert(finding.ranks.end(), full.ranks.begin(), full.ranks.end());
  std::sort(finding.ranks.begin(), finding.ranks.end());
  finding.cause = is_others
                      ? "other processes use the same GPU: ranks that chose one device, a job that "
                        "has not ended, or another server"
                      : "too little GPU memory is left for NCCL's buffers or the application";
  finding.fix = is_others ? "nvidia-smi on that host shows whose they are; "
                            "torch.cuda.set_device(LOCAL_RANK) before anything is allocated"
                          : "smaller batches or shards; leave NCCL some hundred MiB (vLLM: "
                            "--gpu-memory-utilization); NCCL_BUFFSIZE or fewer communicators";
}

/// The meaning of a CUDA error, found by lower-case words of its text.
struct ErrorRow {
  std::array<std::string_view, 4> words;
  std::string_view cause, fix = {};  ///< no fix: kFirstRank
};

constexpr std::string_view kFirstRank =
    "the first rank that reports it is the suspect: dmesg there for Xid lines; "
    "CUDA_LAUNCH_BLOCKING=1 "
    "to "
    "find the kernel";

constexpr ErrorRow kErrors[] = {
    {{"illegal memory access", "unspecified launch", "assert", "misaligned"},
     "an earlier kernel, most likely not NCCL's, went wrong on this GPU, or the GPU has a fault"},
    {{"ecc", "lost", "off the bus"}, "the GPU's hardware"},
    {{"initialization error"},
     "the process was forked after CUDA had been initialised",
     "start the processes with spawn, not fork, or before CUDA is touched"},
    {{"busy or unavailable", "exclusive"},
     "another process holds the GPU, and its compute mode lets one use it at a time",
     "nvidia-smi on that host shows which process holds it; nvidia-smi -c DEFAULT lets several use "
     "it"},
    {{"driver", "version", "toolchain"},
     "the driver is too old for this CUDA, or was replaced while in use",
     "nvidia-smi names the driver and the newest CUDA that it serves: a newer driver, or an image "
     "of "
     "an older CUDA (cuda-compat bridges one step)"},
    {{"not permitted"},
     "the process lacks a right that sharing memory between GPUs needs: an IMEX channel, a device "
     "of "
     "the container, or rights over the other process",
     "pass /dev/nvidia-caps-imex-channels to the container, or run it with --cap-add=SYS_PTRACE "
     "--ipc=host; NCCL_CUMEM_ENABLE=0 or NCCL_MNNVL_ENABLE=0 to confirm"},
    {{"os call failed"},
     "the system refuses a call by which CUDA makes shared memory: a container without the rights "
     "for "
     "NUMA, or a kernel that lacks it",
     "docker run --cap-add=SYS_NICE ...; NCCL_CUMEM_HOST_ENABLE=0 or NCCL_CUMEM_ENABLE=0 to "
     "confirm"},
    {{"mapping resources exhausted"},
     "a GPU has mapped as many peers as it can (8 over PCIe)",
     "NCCL_P2P_LEVEL=PXB, or fewer GPUs a job"},
    {{"peer access"},
     "peer access between these GPUs is not possible: another class of GPU, a virtual machine, or "
     "a "
     "container that does not see both",
     "NCCL_P2P_DISABLE=1 (vLLM: --disable-custom-all-reduce); nvidia-smi topo -p2p r"},
    {{"not supported"},
     "the driver, the machine or the container does not give what the call needs: multicast over "
     "NVSwitch, memory handles between processes, or a newer driver",
     "nvidia-smi -q | grep -A3 Fabric must say Completed; NCCL_NVLS_ENABLE=0 to confirm "
     "(Transformer "
     "Engine's user buffers: UB_SKIPMC=1); docker run --ipc=host"},
    {{"the mps"},
     "the MPS daemon does not run, is of another user or version, or is full",
     "nvidia-cuda-mps-control -d; or run without MPS"},
};

ErrorRow row_of(std::string_view text) {
  const std::string low = lower_case(text);
  const auto* const row = std::ranges::find_if(kErrors, [&](const ErrorRow& one) {
    return std::ranges::any_of(
        one.words, [&](std::string_view word) { return !word.empty() && contains(low, word); });
  });
  return row == std::end(kErrors) ? ErrorRow{{}, "the GPU, its driver or an earlier kernel"} : *row;
}

}  // namespace

void look_for_cuda_errors(const JobFacts& facts, Findings& findings) {
  Complaint full, other;
  const auto take = [&](const QuotedLine& line, std::int32_t rank, std::string_view error) {
    if (is_out_of_memory(line.text)) {
      full.add(line, rank, error);
    } else if (!has_reason(line.text)) {
      other.add(line, rank, error);
    }
  };
  for (const MessageId id : {MessageId::CudaFailure, MessageId::CudaError, MessageId::DriverTooOld,
                             MessageId::NvmlFailed, MessageId::LaunchRace, MessageId::GraphCapture,
                             MessageId::NvlsBindFailed}) {
    for (const KeptMessage& message : facts.messages[id].kept) {
      if (!is_warning(message)) continue;
      std::string_view error = message.argument("error");
      if (error.empty()) error = message.text().substr(0, 100);
      take({message.place(), message.process(), quotable(message.line())}, -1, error);
    }
  }
  for (const KeptMessage& message : facts.messages[MessageId::BenchmarkError].kept) {
    if (!contains(message.text(), "CUDA failure")) continue;
    take({message.place(), message.process(), quotable(message.line())}, -1,
         message.argument("error"));
  }
  for (const KeptLine& line : facts.plain_of(PlainLine::OutOfGpuMemory).kept)
    full.add(line.quoted, line.launcher_rank, "CUDA out of memory");
  for (const KeptLine& line : facts.plain_of(PlainLine::DeviceAssert).kept)
    other.add(line.quoted, -1, "device-side assert");
  // A watchdog ends with the error of an earlier kernel.
  for (const KeptMessage& message : facts.messages[MessageId::WatchdogException].kept) {
    constexpr std::string_view kKey = "CUDA error: ";
    const std::size_t at = message.text().find(kKey);
    if (at == std::string_view::npos) continue;
    take({message.place(), message.process(), quotable(message.line())}, rank_of(facts, message),
         first_sentence(message.text().substr(at + kKey.size())));
  }
  for (const PythonErrorFact& error : facts.python_errors) {
    if (!contains_any(error.text, {"CUDA error", "HIP error", "CUDA Error: "})) continue;
    // Extensions print the place in their source first.
    constexpr std::string_view kBehindPlace = "CUDA Error: ";
    const std::size_t at = error.text.find(kBehindPlace);
    const std::string_view text = error.text;
    take(error.quoted, error.rank,
         first_sentence(at == std::string::npos ? text : text.substr(at + kBehindPlace.size())));
  }
  if (!full.evidence.empty()) report_out_of_memory(full, findings);
  if (other.evidence.empty()) return;
  Finding& finding = findings.add("cuda_error", Severity::Error, "a CUDA call fails: " + other.text,
                                  other.evidence);
  findings.add_processes(finding, other.who);
  finding.ranks.insert(finding.ranks.end(), other.ranks.begin(), other.ranks.end());
  const ErrorRow row = row_of(other.text);
  finding.cause = row.cause;
  const bool is_of_nvls = findings.has("nvls_unavailable", Severity::Error) &&
                          facts.messages[MessageId::CudaError].evidence.empty();
  if (is_of_nvls) {
    finding.cause = "the call that sets NVLink SHARP up (nvls_unavailable)";
    finding.fix = "as above";
    return;
  }
  finding.fix = row.fix.empty() ? kFirstRank : row.fix;
}

}  // namespace ringside::audit
