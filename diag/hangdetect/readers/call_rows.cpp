#include "diag/hangdetect/readers/call_rows.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Whether the word is of a call that has ended, or has not.  returns  nothing: it is no state
std::optional<bool> is_pending_state(std::string_view word) {
  static constexpr std::array kPending = {
      std::string_view{"started"}, std::string_view{"scheduled"}, std::string_view{"pending"},
      std::string_view{"running"}, std::string_view{"enqueued"},  std::string_view{"active"},
      std::string_view{"waiting"}, std::string_view{"inflight"}};
  static constexpr std::array kEnded = {std::string_view{"completed"}, std::string_view{"complete"},
                                        std::string_view{"done"},      std::string_view{"finished"},
                                        std::string_view{"ended"},     std::string_view{"retired"}};
  if (std::find(kPending.begin(), kPending.end(), word) != kPending.end()) return true;
  if (std::find(kEnded.begin(), kEnded.end(), word) != kEnded.end()) return false;
  return std::nullopt;
}

/// `seq`, `seqnum`, `p2p_seq_id`, `collective_seq_id`
bool is_sequence_word(std::string_view word) {
  return word.find("seq") != std::string_view::npos && word.find("sequence_parallel") == word.npos;
}

}  // namespace

std::vector<RowCall> calls_in_row(std::string_view row) {
  constexpr std::size_t kLongest = 600;
  constexpr std::size_t kShortestName = 4;
  const std::string text = lower_case(row.substr(0, kLongest));
  std::vector<RowCall> calls;
  std::optional<RowCall> open;
  std::int64_t sequence = -1;  // told before the call's name
  bool is_sequence = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '[' && open && open->shape.empty()) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789, []x", at), text.size());
      open->shape = std::string(
          logs::trimmed(std::string_view(text).substr(at, text.rfind(']', end) + 1 - at)));
      at = std::max(end, at + 1);
      continue;
    }
    if (!is_of_name(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(at, end - at);
    at = end;
    if (is_digit(word.front())) {
      const std::int64_t number = parse_whole(word).value_or(-1);
      if (is_sequence && open && open->sequence < 0) {
        open->sequence = number;
      } else if (is_sequence) {
        sequence = number;
      }
      is_sequence = false;
      continue;
    }
    is_sequence = is_sequence_word(word);
    if (const auto state = is_pending_state(word); state && open) {
      open->is_pending = *state;
      calls.push_back(*std::move(open));
      open.reset();
      sequence = -1;
      continue;
    }
    const Op op = word.size() >= kShortestName ? op_of(word) : Op::Other;
    if (op != Op::Other) open = RowCall{op, false, sequence, {}};
  }
  return calls;
}

}  // namespace ringside::hang
