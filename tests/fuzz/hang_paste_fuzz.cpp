#include <cstddef>
#include <cstdint>
#include <string_view>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/verdict/decide.h"

/// Feeds arbitrary text as a stranger may paste it. Ordering it, reading its lines and stacks, and the verdict must
/// neither crash nor exhaust memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::hang;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(read_json_stack(text, "rank_1.json"));
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  constexpr int kLargest = 512;
  if (facts.world > kLargest) return 0;
  const Job job(names, facts.dumps, {}, facts.world);
  if (job.world() <= kLargest) static_cast<void>(decide(job, facts));
  return 0;
}
