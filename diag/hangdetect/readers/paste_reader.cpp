#include "diag/hangdetect/readers/paste_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "diag/hangdetect/readers/call_texts.h"
#include "diag/hangdetect/readers/listed_source.h"
#include "diag/hangdetect/readers/paste_text.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/job/world_size.h"

namespace ringside::hang {

void PasteReader::read(std::string_view text, const std::string& name) {
  // Options of a script are not log lines, and are skipped below.
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.find("node") != line.npos || line.find("NODE") != line.npos ||
        line.find("Node") != line.npos)
      facts_.layout.take(line);
    if (line.find("mpi") != line.npos || line.find("run") != line.npos)
      facts_.known_world = std::max(facts_.known_world, job::world_of_command(line));
  }
  std::vector<PasteLine> lines = read_paste(text);
  extract_call_stack(lines, facts_);
  std::vector<bool> used;
  std::vector<ProcessStack> stacks = read_process_stacks(lines, name, &used);
  if (!stacks.empty()) {
    ListedSource source;
    for (const PasteLine& line : lines) source.take(line.text);
    source.mark_gpu_waits(stacks);
  }
  facts_.stacks.insert(facts_.stacks.end(), stacks.begin(), stacks.end());
  RankTimers timers;
  for (const PasteLine& line : lines) timers.take(line.text, line.number);
  if (!timers.timers().empty()) facts_.timers_file = name;
  facts_.timers.insert(facts_.timers.end(), timers.timers().begin(), timers.timers().end());
  std::vector<bool> reported;
  const std::vector<RasReport> reports = ras_reports_in(lines, name, reported);
  facts_.reports.insert(facts_.reports.end(), reports.begin(), reports.end());
  facts_.is_of_job |= !reports.empty() || !stacks.empty();
  for (std::size_t i = 0; i < lines.size(); ++i) reported[i] = reported[i] || used[i];
  const auto number = static_cast<std::uint32_t>(names_.size());
  parser_.begin(kFirst + number, number, name);
  names_.push_back(name);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Names of functions in a stack contain words of errors and waits, but report none.
    PasteLine& line = lines[i];
    if (reported[i] && (!used[i] || !stacks.empty())) {
      ++facts_.lines;
      continue;
    }
    const bool is_odd = line.text.find('\r') != std::string::npos;  // a progress bar
    parser_.parse_restored({.text = std::move(line.text),
                            .number = static_cast<std::uint32_t>(line.number),
                            .stamp = std::move(line.stamp),
                            .host = std::move(line.host),
                            .rank = line.rank},
                           is_odd);
  }
  parser_.flush();
}

void PasteReader::finish() {
  parser_.finish();
  facts_.lines += parser_.counts().lines;
}

}  // namespace ringside::hang
