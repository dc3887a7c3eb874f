#include "diag/hangdetect/readers/barrier_lines.h"

#include <algorithm>
#include <utility>

#include "diag/hangdetect/readers/line_words.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

using What = LogStatement::What;
using logs::MessageId;

bool BarrierLines::take_message(const logs::Record& record) {
  switch (record.as<logs::Message>().id) {
    case MessageId::BarrierMissing: {
      // Rank 0 counts the others: where it is named itself, it says that it did not come through.
      std::vector<int> absent = absent_ranks(record);
      std::erase(absent, 0);
      if (absent.empty()) {
        statements_.state(record, What::BarrierLeft, {0}, 0, "waited");
      } else {
        is_absent_told_ = true;
        statements_.state(record, What::BarrierAbsent, std::move(absent));
      }
      return true;
    }
    case MessageId::DeepEpTimeout:
      statements_.state(record, What::BarrierAbsent, absent_ranks(record));
      return true;
    case MessageId::BarrierWaitsForRoot:
      statements_.state(record, What::BarrierLeft,
                        {static_cast<int>(logs::message_number(record, "rank"))});
      return true;
    case MessageId::BarrierTimedOut: {
      const auto rank = static_cast<int>(logs::message_number(record, "rank"));
      if (rank >= 0 && waiter_ < 0) {
        waiter_ = rank;
        waits_text_ = record.line;
        waits_ = record;
      }
      const auto ranks = logs::parse_rank_list(logs::message_argument(record, "ranks"));
      came_.insert(came_.end(), ranks.begin(), ranks.end());
      is_told_ = is_told_ || rank < 0;
      return true;
    }
    default:
      return false;
  }
}

void BarrierLines::finish(int world) {
  if (waiter_ < 0 || is_absent_told_) return;
  waits_.line = waits_text_;
  waits_.text_at = 0;
  came_.push_back(waiter_);
  std::sort(came_.begin(), came_.end());
  came_.erase(std::unique(came_.begin(), came_.end()), came_.end());
  std::vector<int> absent;
  for (int rank = 0; rank < world; ++rank) {
    if (!std::binary_search(came_.begin(), came_.end(), rank)) absent.push_back(rank);
  }
  if (is_told_ && !absent.empty()) {
    statements_.state(waits_, What::BarrierAbsent, std::move(absent));
  } else {
    statements_.state(waits_, What::BarrierLeft, came_, 0, "waited");
  }
}

}  // namespace ringside::hang
