#include "diag/hangdetect/readers/program_lines.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "diag/facts/call_lines.h"
#include "diag/hangdetect/readers/call_texts.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/last_lines.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/hangdetect/readers/stack_heads.h"
#include "diag/job/world_size.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/line_begins.h"
#include "diag/logparse/wrappers.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

/// Returns the record of a kept line.
template <typename Line>
logs::Record record_of(const Line& line) {
  logs::Record record;
  record.place = line.place;
  record.line = line.text;
  return record;
}

/// Returns the rank that a text of digits names; -1: it names none.
int rank_named(std::string_view digits) {
  const auto number = parse_whole(digits);
  return number && *number >= 0 && *number < kMostRanks ? static_cast<int>(*number) : -1;
}

}  // namespace

void ProgramLines::take(const logs::Record& record, int rank) {
  if (++lines_ <= kMostFirst) {
    statements_.note_line(record, rank);
    read(record, rank);
    return;
  }
  const std::size_t slot = static_cast<std::size_t>(lines_ - kMostFirst - 1) % kMostLast;
  if (slot == last_.size()) last_.emplace_back();
  Line& line = last_[slot];
  line.text.assign(record.text().substr(0, Statements::kShown));
  line.place = record.place;
  line.rank = rank;
  next_ = slot + 1;
}

void ProgramLines::finish() {
  facts_.unread += lines_ - std::min(lines_, kMostFirst) - last_.size();
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const Line& line = last_[(next_ + i) % last_.size()];
    read(record_of(line), line.rank);
  }
  finish_tables();
}

/// Reads a line of Horovod's list of stalled ranks: `2: [allreduce.weight, ..]`, where the number may be mpirun's tag or
/// be read as a launcher's label.
bool ProgramLines::read_stalled_rank(const logs::Record& record, int rank) {
  std::string_view text = record.text();
  const std::size_t colon = text.find(": [");
  if (colon != std::string_view::npos) {
    if (const int named = rank_named(text.substr(0, colon)); named >= 0) {
      rank = named;
      text.remove_prefix(colon + 2);
    }
  }
  // A bracket with a time begins the next warning.
  const bool is_list = text.size() > 1 && text.front() == '[' && !logs::is_digit(text[1]);
  if (rank < 0 || !is_list) return false;
  // The newest list has all ranks that still wait.
  if (std::exchange(is_list_new_, false)) stalled_.clear();
  constexpr std::size_t kMost = 4096;
  if (stalled_.size() < kMost)
    stalled_[rank] = {std::string(text.substr(0, Statements::kShown)), record.place, rank};
  return true;
}

/// Reads a line of accelerate's check of an operation: `- Process 0: [16, 384]`. Another line ends the list.
bool ProgramLines::read_shape(const logs::Record& record) {
  constexpr std::string_view kProcess = "Process ";
  constexpr std::size_t kLatest = 3;   // `- ` or blanks before the word
  constexpr std::size_t kShape = 120;  // characters of a shape that are kept
  const std::string_view text = record.text();
  const std::size_t at = text.find(kProcess);
  const std::size_t colon = text.find(": [", std::min(at, text.size()));
  if (at <= kLatest && colon != std::string_view::npos) {
    const std::size_t digits = at + kProcess.size();
    if (const int rank = rank_named(text.substr(digits, colon - digits)); rank >= 0)
      statements_.state(record, What::Fingerprint, {rank}, 0,
                        "TensorShape=" + std::string(text.substr(colon + 2, kShape)));
    return true;
  }
  const bool is_head = text.find("Operation: ") != std::string_view::npos ||
                       text.find("Input shapes") != std::string_view::npos || text.empty();
  if (!is_head) list_ = List::None;
  return false;
}

bool ProgramLines::read_list(const logs::Record& record, int rank) {
  if (list_ == List::Horovod && read_stalled_rank(record, rank)) return true;
  if (record.text().find("due to shape mismatches") != std::string_view::npos) {
    list_ = List::Shapes;
    return false;
  }
  return list_ == List::Shapes && read_shape(record);
}

void ProgramLines::expect_stalled_ranks() {
  list_ = List::Horovod;
  is_list_new_ = true;
}

/// A rank in Horovod's list lacks tensors that others have submitted. Where it lists every rank of the job, each
/// lacks another's tensor: no rank is behind, and the few whose list no other rank shares took another branch.
void ProgramLines::state_stalled() {
  constexpr std::string_view kName = "Horovod's stall inspector";
  if (stalled_.empty()) return;
  const auto world = static_cast<std::size_t>(std::max(facts_.known_world, facts_.world));
  std::map<std::string_view, std::vector<int>> sides;
  for (const auto& [rank, line] : stalled_) sides[line.text].push_back(rank);
  const bool are_all = stalled_.size() > 1 && stalled_.size() >= world &&
                       stalled_.rbegin()->first + 1 == static_cast<int>(stalled_.size());
  if (!are_all || sides.size() < 2) {
    for (const auto& [rank, line] : stalled_)
      statements_.state(record_of(line), What::Laggards, {rank}, 0, std::string(kName));
    return;
  }
  const auto by_size = [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  };
  const auto few = std::min_element(sides.begin(), sides.end(), by_size);
  const bool is_minority = sides.size() == 2 && few->second.size() * 2 < stalled_.size();
  const Line& shown = stalled_.at(few->second.front());
  statements_.state(record_of(shown), What::TensorsCross,
                    is_minority ? few->second : std::vector<int>{}, 0, std::string(kName));
}

bool ProgramLines::read_tables(const logs::Record& record) {
  constexpr std::size_t kMost = 4096;
  std::string_view text = record.line;
  // A collector's time before a row is no cell of it.
  if (record.text_at > 0) {
    std::int64_t time = 0;
    text.remove_prefix(std::min<std::size_t>(text.size(), logs::read_time(text, time)));
    text = logs::trimmed_left(text);
  }
  const auto kept = [&] {
    return Line{std::string(text.substr(0, Statements::kShown)), record.place, -1};
  };
  if (const PsLine one = read_ps_line(text); one.state != 0) {
    if (processes_.size() < kMost) processes_.emplace_back(one, kept());
    return true;
  }
  if (const PodLine pod = read_pod_line(text); pod.index >= 0) {
    if (pods_.size() < kMost) pods_.emplace_back(pod.index, kept());
    return true;
  }
  if (const auto row = clock_table_.take(text)) {
    if (clocks_.size() < kMost) {
      clocks_.push_back(*row);
      clock_lines_.push_back(kept());
    }
    return true;
  }
  if (const int percent = gpu_utilisation(text); percent >= 0) {
    if (gpus_.size() < kMost) gpus_.emplace_back(percent, kept());
    return true;
  }
  return false;
}

/// Pods of a job of which most run and a few never started, or ended.
void ProgramLines::finish_pods() {
  // A master comes before the workers, which are counted apart from it; a launcher is no rank.
  const auto is_of = [](const Line& line, std::initializer_list<std::string_view> roles) {
    const std::string_view role = read_pod_line(line.text).role;
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  };
  std::erase_if(pods_, [&](const auto& pod) { return is_of(pod.second, {"launcher"}); });
  const auto masters = std::count_if(pods_.begin(), pods_.end(), [&](const auto& pod) {
    return is_of(pod.second, {"master", "chief", "head"});
  });
  if (masters == 1) {
    for (auto& [index, line] : pods_) index += is_of(line, {"worker"}) ? 1 : 0;
  }
  std::size_t running = 0;
  std::set<int> indices;
  for (const auto& [index, line] : pods_) {
    running += read_pod_line(line.text).status == "Running" ? 1U : 0U;
    indices.insert(index);
  }
  // Two pods of one index belong to several jobs: no rank is named.
  if (running * 2 < pods_.size() || indices.size() != pods_.size()) return;
  const bool are_all = !indices.empty() && *indices.rbegin() + 1 == static_cast<int>(pods_.size());
  for (const auto& [index, line] : pods_) {
    const std::string_view status = read_pod_line(line.text).status;
    const bool is_waiting = status == "Pending" || status == "ContainerCreating" ||
                            status == "ImagePullBackOff" || status == "ErrImagePull" ||
                            status.starts_with("Init:") || status == "Unschedulable";
    const bool is_ended = status == "Error" || status == "Evicted" ||
                          status == "CrashLoopBackOff" || status == "NodeLost";
    if (!is_waiting && !is_ended) continue;
    statements_.state(record_of(line), is_waiting ? What::PodWaits : What::PodEnded, {index},
                      are_all ? static_cast<std::int64_t>(pods_.size()) : 0, std::string(status));
  }
}

/// One GPU of a host whose clock is held down. Where all GPUs of the host are listed its index is a local rank, and the
/// global one too if the job has one host.
void ProgramLines::finish_clocks() {
  const std::optional<std::size_t> slowed = slowed_row(clocks_);
  if (!slowed) return;
  // A row's number is one of this host's GPUs; among several hosts it is no rank.
  const int count = static_cast<int>(clocks_.size());
  const bool are_all = std::ranges::all_of(
      clocks_, [&](const ClockRow& row) { return row.gpu < count; });  // none is listed twice
  bool is_one_host = facts_.known_world <= count;
  facts::each_list(facts_.facts, [&](const auto& list) {
    for (const facts::Fact& one : list) is_one_host = is_one_host && one.subject.rank < count;
  });
  statements_.state_of(record_of(clock_lines_[*slowed]), What::Slow,
                       are_all && is_one_host ? clocks_[*slowed].gpu : -1, 0,
                       "nvidia-smi shows a clock that is held down, of");
}

/// Least utilisation of a busy GPU: a kernel of a collective that waits spins at 100.
constexpr int kBusyPercent = 90;

/// Finds the few odd rows of a table: a stopped process among running ones, an idle GPU among busy ones.
void ProgramLines::finish_tables() {
  const auto state = [&](const Line& line, What what, int rank, std::int64_t code) {
    statements_.state_of(record_of(line), what, rank, code);
  };
  const auto runs = [](const auto& one) {
    return one.first.state == 'R' || one.first.state == 'S';
  };
  const auto running =
      static_cast<std::size_t>(std::count_if(processes_.begin(), processes_.end(), runs));
  if (running > 0 && running * 2 >= processes_.size()) {
    for (const auto& [process, line] : processes_) {
      if (std::string_view("TtZD").find(process.state) != std::string_view::npos)
        state(line, What::Stopped, process.local_rank, process.state);
    }
  }
  finish_pods();
  finish_clocks();
  const auto is_busy = [](const auto& one) { return one.first >= kBusyPercent; };
  const auto is_idle = [](const auto& one) { return one.first == 0; };
  const auto busy = std::count_if(gpus_.begin(), gpus_.end(), is_busy);
  const auto idle = std::find_if(gpus_.begin(), gpus_.end(), is_idle);
  if (gpus_.size() > 2 && idle != gpus_.end() &&
      busy + 1 == static_cast<std::ptrdiff_t>(gpus_.size()))
    state(idle->second, What::GpuIdle, static_cast<int>(idle - gpus_.begin()), idle->first);
}

void ProgramLines::begin_traceback() { is_guarded_ = false; }

/// `STRAGGLER DETECTION WARNING: ... Affected ranks: {StragglerId(rank=11, node='n2')}`, of NVIDIA's resiliency
/// extension.
void ProgramLines::read_slow(const logs::Record& record) {
  const std::string_view text = record.text();
  if (text.find("STRAGGLER DETECTION WARNING") == std::string_view::npos) return;
  std::vector<int> ranks;
  constexpr std::string_view kRank = "rank=";
  for (std::size_t at = text.find(kRank); at != std::string_view::npos;
       at = text.find(kRank, at + 1)) {
    const std::string_view rest = text.substr(at + kRank.size());
    const auto rank = parse_whole(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (rank && *rank < kMostRanks) ranks.push_back(static_cast<int>(*rank));
  }
  if (!ranks.empty())
    statements_.state(record, What::Slow, std::move(ranks), 0, "a detector of stragglers names");
}

/// Counts lines in which a person states a hang (RunNotes::claims) and lines that explain a slow start
/// (RunNotes::slow_starts). The hypothesis generators use both counts.
void ProgramLines::read_claims(std::string_view text) {
  const std::string small = lower_case(text.substr(0, Statements::kShown));
  const auto has_any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return small.find(word) != std::string::npos;
    });
  };
  if (has_any({"hang", "hung", "stuck", "freez", "froze", "deadlock", "stalls", "never return",
               "never end", "nothing after", "nothing else", "nothing more", "then nothing",
               "stops at", "always stops", "does not end", "n't end", "forever", "never finish"}) &&
      !has_any({"not hang", "n't hang", "no hang", "not stuck", "n't stuck"}))
    ++facts_.run.claims;
  if (has_any({"autotune", "torch.compile", "compiling", "power brake", "clocks throttled",
               "hw slowdown", "first step will be slow", "slow compile", "slow_operation_alarm",
               "compilation took", "capturing cuda graph", "cuda graph capture"}))
    ++facts_.run.slow_starts;
  // A line of source in a traceback, or above its lines.
  if (has_any({"rank == 0", "is_main_process", "is_rank_0", "rank_zero", "is_master_process",
               "is_local_main_process"}))
    is_guarded_ = true;
}

/// Reads torchrun's settings, `PET_NNODES: 4` and `PET_NPROC_PER_NODE=8`, which together are the number of ranks.
void ProgramLines::read_torchrun_settings(std::string_view text) {
  const auto setting = [text](std::string_view name) -> std::int64_t {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return -1;
    const std::string_view rest = text.substr(at + name.size());
    return leading_number(rest.substr(std::min(rest.find_first_not_of(" \t:=\""), rest.size())));
  };
  if (const std::int64_t hosts = setting("PET_NNODES"); hosts > 0) hosts_ = hosts;
  if (const std::int64_t each = setting("PET_NPROC_PER_NODE"); each > 0) each_ = each;
  if (hosts_ > 0 && hosts_ <= kMostRanks && each_ > 0 && each_ <= kMostRanks)
    statements_.know_world(hosts_ * each_);
}

/// Reads a heading such as `== nccl_trace_rank_3 ==`: the rank whose entries follow.
void ProgramLines::read_section(std::string_view line) {
  if (!line.starts_with("==") && !line.starts_with("--") && !line.starts_with("##")) return;
  section_rank_ =
      static_cast<int>(std::min<std::int64_t>(number_after(lower_case(line), "rank"), kMostRanks));
}

/// Keeps a line that names its rank, as the last one of that rank.
void ProgramLines::note_last_line(const RankedLine& own, logs::Place place) {
  // A number alone is a cell of a list.
  const bool has_words = std::any_of(own.text.begin(), own.text.end(), logs::is_letter);
  if (own.rank < 0 || !has_words) return;
  LastLine& last = facts_.run.last_lines[own.rank];
  last.text = own.text.substr(0, Statements::kShown);
  last.place = place;
}

void ProgramLines::read(const logs::Record& record, int rank) {
  const std::string_view text = record.text();
  if (read_list(record, rank) || read_tables(record)) return;
  read_claims(text);
  read_slow(record);
  const RunLine line = read_run_line(text);
  const RankedLine own = read_ranked_line(record.line);
  note_last_line(own, record.place);
  const std::string_view line_text = logs::trimmed(text);
  read_section(line_text);
  if (rank < 0 && own.rank < 0 && section_rank_ >= 0 && line_text.starts_with("{'")) {
    calls_.take(section_rank_, line_text, record.place);
    return;
  }
  std::string_view said = rank >= 0 && own.rank < 0 ? text : record.line;
  said.remove_prefix(logs::clock_before_label(said));
  const bool is_call = calls_.take(rank, said, record.place);
  // A rank that reports a time-out has not left the call.
  if (!is_call && line.what != RunLine::What::Alarming) calls_.take_other(rank, said);
  if (rank < 0 && line.what == RunLine::What::Step) {
    rank = own.rank >= 0 ? own.rank : read_ranked_line(text).rank;
  }
  const bool is_other_work = busy_.take(record, rank >= 0 ? rank : own.rank);
  if (is_other_work && line.what == RunLine::What::Step) return;
  const bool is_within_step =
      is_call && line.what == RunLine::What::Step && facts::is_of_transfer(said);
  if (line.what == RunLine::What::Step && !is_within_step) busy_.take_step(record);
  if (!is_within_step) statements_.note_run(record, line, rank);
  statements_.know_world(job::world_in(text));
  read_torchrun_settings(text);
  if (const int peer = peer_in(text); peer >= 0) peer_ = peer;
}

}  // namespace ringside::hang
