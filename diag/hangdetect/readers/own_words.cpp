#include "diag/hangdetect/readers/own_words.h"

#include <algorithm>
#include <string_view>

#include "diag/hangdetect/readers/call_texts.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/job/line_rank.h"
#include "diag/job/world_size.h"

namespace ringside::hang {

namespace {

/// `rank=0 step=100`, `INFO rank 2, iteration 98`: the rank near the beginning of a line of progress.  returns  -1: none
int rank_of_step(std::string_view text) {
  constexpr std::size_t kNear = 40;
  const std::string_view head = text.substr(0, kNear);
  for (const std::string_view word : {"rank", "Rank", "RANK"}) {
    const std::size_t at = head.find(word);
    if (at == std::string_view::npos) continue;
    const bool is_own = at == 0 || std::string_view(" [(,|").find(head[at - 1]) != head.npos;
    if (is_own) return job::rank_before_text(text.substr(at));
  }
  return -1;
}

}  // namespace

void OwnWords::take(const logs::Record& record, int rank) {
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

void OwnWords::finish() {
  facts_.unread += lines_ - std::min(lines_, kMostFirst) - last_.size();
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const Line& line = last_[(next_ + i) % last_.size()];
    logs::Record record;
    record.place = line.place;
    record.line = line.text;
    read(record, line.rank);
  }
}

void OwnWords::read(const logs::Record& record, int rank) {
  const std::string_view text = record.text();
  // Horovod's list, `2: [allreduce.weight, ..]`: the number reads as a launcher's label.
  const bool is_tensor = text.starts_with('[') && op_of(text.substr(1)) != Op::Other;
  if (are_stalled_ranks_next_ && rank >= 0 && is_tensor) {
    statements_.state(record, LogStatement::What::Laggards, {rank});
    return;
  }
  are_stalled_ranks_next_ = false;
  const RunLine line = read_run_line(text);
  if (rank < 0 && line.what == RunLine::What::Step) rank = rank_of_step(text);
  statements_.note_run(record, line, rank);
  statements_.know_world(job::world_in(text));
  if (const int peer = peer_in(text); peer >= 0) peer_ = peer;
}

}  // namespace ringside::hang
