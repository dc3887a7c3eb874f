#include "diag/facts/call_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "diag/facts/call_words.h"
#include "diag/facts/exit_status.h"
#include "diag/job/world_size.h"
#include "diag/logparse/cursor.h"

namespace ringside::facts {
namespace {

using std::string_view;

class CallReader {
 public:
  explicit CallReader(string_view line)
      : text_(lower_case(own_part(line))),
        is_entry_(line.starts_with('{')),
        tokens_(tokens_of(text_)) {}

  std::vector<Call> read() {
    take_rank();
    while (at_ < tokens_.size() && !is_prose_) take();
    const bool is_end_alone = !call_ && before_.state == CallState::Completed && unknown_ == 0 &&
                              has_rank() && (is_arrow_ || before_.sequence >= 0);
    if (is_end_alone) call_ = before_;
    if (call_) calls_.push_back(*call_);
    constexpr int kMostUnknown = 6;  // more make a sentence about a call
    if (is_prose_ || unknown_ > kMostUnknown || (is_timed_ && !has_ended())) return {};
    for (Call& call : calls_) finish(call);
    return std::move(calls_);
  }

 private:
  static constexpr std::size_t kLongest = 600;

  /// Returns an entry of a dump, such as `{'state': 'started'}  # forward model.py:20`, without the comment.
  static string_view own_part(string_view line) {
    line = line.substr(0, kLongest);
    const std::size_t close = line.starts_with('{') ? line.rfind('}') : string_view::npos;
    return line.substr(0, close);
  }

  [[nodiscard]] bool has_rank() const {
    return before_.subject.rank >= 0 || before_.subject.label >= 0;
  }
  [[nodiscard]] bool has_ended() const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const Call& one) { return one.state == CallState::Completed; });
  }
  [[nodiscard]] const Token* peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  [[nodiscard]] bool is_mark(std::size_t ahead, string_view marks) const {
    const Token* one = peek(ahead);
    return one != nullptr && one->is == Token::Is::Mark && marks.find(one->text) != marks.npos;
  }
  Call& target() { return call_ ? *call_ : before_; }

  /// Reads `[2]`, `(2)`, `r2 |` or `2:` at the start.
  void take_rank() {
    constexpr std::size_t kNear = 16;  // after a time and a level
    if (take_rank_at(0, false)) return;
    for (std::size_t i = 1; i < std::min(kNear, tokens_.size()); ++i) {
      const bool is_open = tokens_[i].text == "[" || tokens_[i].text == "(";
      if (is_operation(tokens_[i].text) || (is_open && take_rank_at(i, true))) return;
    }
  }

  bool take_rank_at(std::size_t begin, bool needs_name) {
    std::size_t ahead = begin;
    while (is_mark(ahead, "[(<{")) ++ahead;
    const Token* first = peek(ahead);
    if (first == nullptr) return false;
    const bool is_open = ahead > begin || begin > 0;
    if (needs_name && first->is == Token::Is::Number) return false;
    std::int64_t number = -1;
    if (first->is == Token::Is::Number) {
      number = first->number;
    } else if (first->is == Token::Is::Word) {
      const std::size_t digits = first->text.find_first_of("0123456789");
      const string_view name = first->text.substr(0, digits);
      static constexpr std::array kNames = {
          string_view{"r"},  string_view{"p"},      string_view{"rank"},   string_view{"proc"},
          string_view{"pe"}, string_view{"worker"}, string_view{"process"}};
      if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return false;
      if (digits != string_view::npos) {
        number = whole_number(first->text.substr(digits));
        if (number >= 0 && name == "rank") {
          before_.subject.rank = in_range(number);
          at_ = begin == 0 ? ahead + 1 : 0;
          return true;
        }
      } else if (name != "rank" && is_number(ahead + 1)) {
        ++ahead;
        number = peek(ahead)->number;
      }
    }
    const bool is_closed = is_open ? is_mark(ahead + 1, "])>}") : is_mark(ahead + 1, ":|>");
    if (number < 0 || !is_closed) return false;
    before_.subject.label = in_range(number);
    if (begin == 0) at_ = ahead + 2;
    return true;
  }

  [[nodiscard]] bool is_number(std::size_t ahead) const {
    const Token* one = peek(ahead);
    return one != nullptr && one->is == Token::Is::Number;
  }

  static int in_range(std::int64_t number) {
    return number >= 0 && number < job::kMostRanks ? static_cast<int>(number) : -1;
  }

  void take() {
    const Token& token = tokens_[at_];
    switch (token.is) {
      case Token::Is::Word:
        take_word(token);
        return;
      case Token::Is::Begin:
      case Token::Is::End:
        take_arrow(token);
        return;
      case Token::Is::Number:
        take_number(token);
        return;
      case Token::Is::Real:
        is_timed_ = is_timed_ || is_unit_of_time(1);
        ++at_;
        return;
      case Token::Is::Mark:
        if (token.text == "#" && is_number(1)) {
          if (target().sequence < 0) target().sequence = peek(1)->number;
          at_ += 2;
        } else if ((token.text == "[" || is_list_at(at_)) && call_ &&
                   take_shape(at_, is_behind_output())) {
          return;
        } else {
          if (token.text == "?") is_prose_ = true;
          ++at_;
        }
        return;
    }
  }

  /// `->` before a call begins the call; after a send it precedes the peer.
  void take_arrow(const Token& token) {
    const bool is_begin = token.is == Token::Is::Begin;
    is_arrow_ = true;
    // `send 0->1`, `recv 2<-1`: both ends.
    if (call_ && is_transfer(call_->operation) && is_number(1)) {
      const bool is_second = is_begin == (call_->operation == "send");
      const bool has_first = at_ > 0 && tokens_[at_ - 1].is == Token::Is::Number;
      call_->peer = in_range(is_second || !has_first ? peek(1)->number : tokens_[at_ - 1].number);
      at_ += 2;
      return;
    }
    if (!call_ || call_->state == CallState::Unknown)
      target().state = is_begin ? CallState::Enqueued : CallState::Completed;
    ++at_;
  }

  [[nodiscard]] bool is_unit_of_time(std::size_t ahead) const {
    const Token* one = peek(ahead);
    return one != nullptr && one->is == Token::Is::Word &&
           (one->text == "s" || one->text == "ms" || one->text == "us" || one->text == "sec" ||
            one->text == "seconds" || one->text == "min");
  }

  void take_number(const Token& token) {
    const Token* next = peek(1);
    if (is_unit_of_time(1)) is_timed_ = true;
    const bool is_word = next != nullptr && next->is == Token::Is::Word;
    if (const std::int64_t unit = is_word ? unit_of_count(next->text) : 0; unit > 0) {
      constexpr std::int64_t kMost = std::int64_t{1} << 32;
      if (target().input_count < 0 && token.number < kMost)
        target().input_count = token.number * unit;
      at_ += 2;
      return;
    }
    // In `barrier 12` or `all_reduce(loss) 100` the number is that of the call.
    if (call_ && is_behind_call_ && !is_transfer(call_->operation) && call_->step < 0 &&
        call_->sequence < 0)
      call_->step = token.number;
    is_behind_call_ = false;
    ++at_;
  }

  void take_word(const Token& token) {
    const string_view word = token.text;
    const WordKind kind = kind_of_word(word);
    if (kind == WordKind::Negation) {
      is_prose_ = true;
      return;
    }
    if (is_operation(word) && !is_value_of_other(token)) {
      begin_call(word);
      return;
    }
    if (take_receipt(word)) return;
    const Key key = key_of(word);
    if (key != Key::None && take_value(key)) return;
    // `fwd done, in all_reduce`
    const Token* next = peek(1);
    const bool is_in = (word == "in" || word == "inside") && next != nullptr &&
                       next->is == Token::Is::Word && is_operation(next->text);
    if (is_in && !call_) before_.state = CallState::Started;
    is_behind_call_ = is_behind_call_ && kind != WordKind::End && kind != WordKind::Begin;
    if (take_state(word, kind)) {
      ++at_;
      return;
    }
    if (kind == WordKind::Type) {
      if (target().dtype.empty()) target().dtype = word;
    } else if (call_ && kind == WordKind::Group && call_->group.empty()) {
      call_->group = word;
    } else if (kind == WordKind::Other || kind == WordKind::Group) {
      if (key == Key::None) take_unknown(word);
    }
    if (kind != WordKind::Filler) is_label_due_ = false;
    ++at_;
  }

  /// `grads` right after a call and `bucket 3` identify one of the program's calls.
  void take_unknown(string_view word) {
    if (call_ && is_label_due_ && !is_mark(1, "=:")) {
      call_->label = word;
    } else if (is_number(1) && target().label.empty()) {
      target().label = std::string(word) + " " + std::string(peek(1)->text);
      ++at_;
    } else if (!is_entry_) {
      ++unknown_;
    }
  }

  /// `got <- 1`, `waiting <- 1`: a receive by its arrow alone.
  bool take_receipt(string_view word) {
    const Token* arrow = peek(1);
    const bool is_receipt = arrow != nullptr && arrow->text == "<-" && is_number(2);
    const bool has_ended = word == "got" || word == "received";
    const bool is_open = word == "waiting" || word == "awaiting" || word == "expecting";
    if (!is_receipt || (!has_ended && !is_open)) return false;
    begin_call("recv");
    call_->state = has_ended ? CallState::Completed : CallState::Started;
    return true;
  }

  /// `data/all_reduce.py`, `send_buffer: 3`
  [[nodiscard]] bool is_value_of_other(const Token& token) const {
    const char before = token.at > 0 ? text_[token.at - 1] : ' ';
    const std::size_t end = token.at + token.text.size();
    return before == '/' || before == '$' || before == '-' ||
           text_.compare(std::min(end, text_.size()), 3, ".py") == 0;
  }

  void begin_call(string_view word) {
    if (call_) calls_.push_back(*std::exchange(call_, std::nullopt));
    call_ = before_;
    before_.state = CallState::Unknown;
    before_.sequence = -1;
    before_.label.clear();
    call_->operation = canonical_operation(word);
    if (word.find("irecv") != word.npos) call_->operation = "recv";
    for (const string_view send : {"ssend", "bsend", "rsend", "issend", "isend"}) {
      if (word.find(send) != word.npos) call_->operation = "send";
    }
    ++at_;
    is_behind_call_ = true;
    is_label_due_ = true;
    // `all_reduce(dp)`, `all_reduce(grads, step 4)`: but pairs are read as pairs.
    if (is_mark(0, "(")) ++at_;
  }

  bool take_state(string_view word, WordKind kind) {
    std::optional<CallState> state;
    if (kind == WordKind::Open) state = CallState::Started;
    if (kind == WordKind::Begin) state = CallState::Enqueued;
    if (kind == WordKind::End) state = CallState::Completed;
    if (!state) return false;
    // `barrier after eval`, `barrier (end of step 9)`
    const Token* next = peek(1);
    const bool is_of = next != nullptr && next->text == "of";
    if (is_of || (call_ && next != nullptr && (word == "after" || word == "before"))) return true;
    Call& call = target();
    if (call.state == CallState::Unknown || !call_ ||
        (call.state == CallState::Enqueued && *state == CallState::Completed))
      call.state = *state;
    return true;
  }

  /// Takes the value after a key.  returns  false: there is none
  bool take_value(Key key) {
    std::size_t ahead = 1;
    while (
        is_mark(ahead, "=:#(") ||
        (peek(ahead) != nullptr && peek(ahead)->is == Token::Is::Word &&
         (peek(ahead)->text == "rank" || peek(ahead)->text == "id" || peek(ahead)->text == "is") &&
         key != Key::Group && key != Key::Rank)) {
      if (key == Key::Shape && is_mark(ahead, "(")) break;
      ++ahead;
    }
    // `torch.Size([4, 8])`
    if (key == Key::Shape) {
      while (peek(ahead) != nullptr && !is_mark(ahead, "[(") && ahead < 6) ++ahead;
      return is_mark(ahead, "[(") && take_shape(at_ + ahead, false);
    }
    const Token* value = peek(ahead);
    if (value == nullptr) return false;
    const bool has_mark = ahead > 1;
    if (key == Key::Group || key == Key::DType) {
      if (value->is != Token::Is::Word && value->is != Token::Is::Number) return false;
      if (!has_mark && key == Key::Group && kind_of_word(value->text) != WordKind::Group &&
          value->is != Token::Is::Number && !is_followed_by_comma(ahead))
        return false;
      (key == Key::Group ? target().group : target().dtype) = value->text;
      at_ += ahead + 1;
      return true;
    }
    std::int64_t number = value->number;
    if (value->is == Token::Is::Word) {
      // `to rank3`, `from r3`
      const std::size_t digits = value->text.find_first_of("0123456789");
      const string_view name = value->text.substr(0, digits);
      if (digits == string_view::npos || (name != "rank" && name != "r")) return false;
      number = whole_number(value->text.substr(digits));
    } else if (value->is != Token::Is::Number) {
      return false;
    }
    at_ += ahead + 1;
    set(key, number);
    return true;
  }

  [[nodiscard]] bool is_followed_by_comma(std::size_t ahead) const {
    return is_mark(ahead + 1, ",");
  }

  void set(Key key, std::int64_t number) {
    Call& call = target();
    switch (key) {
      case Key::Rank:
        if (has_rank()) {
          is_prose_ = is_prose_ || before_.subject.rank != in_range(number);
        } else {
          before_.subject.rank = in_range(number);
          if (call_) call_->subject.rank = before_.subject.rank;
          for (Call& one : calls_) one.subject.rank = before_.subject.rank;
        }
        break;
      case Key::Sequence: {
        // After the state of a call, `send 0->1 [[4]], started, seq 41 all_reduce`, the number belongs to the next
        // call.
        const bool is_of_next =
            call_ && call.state != CallState::Unknown &&
            std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(at_), tokens_.end(),
                        [](const Token& one) {
                          return one.is == Token::Is::Word && is_operation(one.text);
                        });
        Call& whose = is_of_next ? before_ : call;
        if (whose.sequence < 0) whose.sequence = number;
        break;
      }
      case Key::Step:
        if (call.step < 0) call.step = number;
        break;
      case Key::Count:
        if (call.input_count < 0) call.input_count = number;
        break;
      case Key::Root:
        call.root = in_range(number);
        break;
      case Key::To:
        to_ = in_range(number);
        break;
      case Key::From:
        from_ = in_range(number);
        break;
      case Key::Peer:
        call.peer = in_range(number);
        break;
      case Key::Tag:
        call.tag = number >= 0 && number <= std::numeric_limits<int>::max()
                       ? static_cast<int>(number)
                       : -1;
        break;
      default:
        break;
    }
    // Each call has its own two ends.
    if (call_) give_ends(*call_);
  }

  void give_ends(Call& call) {
    if (call.operation == "send" && to_ >= 0) call.peer = std::exchange(to_, -1);
    if (call.operation == "recv" && from_ >= 0) call.peer = std::exchange(from_, -1);
    const bool is_from_root = call.operation == "broadcast" || call.operation == "scatter";
    const bool is_to_root = call.operation == "reduce" || call.operation == "gather";
    if (is_from_root && from_ >= 0) call.root = std::exchange(from_, -1);
    if (is_to_root && to_ >= 0) call.root = std::exchange(to_, -1);
  }

  /// Returns whether there is a list of at least two numbers: `(32, 768)`.
  [[nodiscard]] bool is_list_at(std::size_t open) const {
    std::size_t numbers = 0;
    std::size_t i = open + 1;
    for (; i < tokens_.size() && tokens_[i].text != ")"; ++i) {
      if (tokens_[i].is != Token::Is::Number && tokens_[i].text != ",") return false;
      numbers += tokens_[i].is == Token::Is::Number ? 1U : 0U;
    }
    return tokens_[open].text == "(" && i < tokens_.size() && numbers > 1;
  }

  /// Returns whether `out=` precedes a shape.
  [[nodiscard]] bool is_behind_output() const {
    std::size_t i = at_;
    while (i > 0 && tokens_[i - 1].is == Token::Is::Mark) --i;
    return i > 0 && tokens_[i - 1].is == Token::Is::Word && tokens_[i - 1].text.starts_with("out");
  }

  /// Reads `[4, 2048]`, `[[4, 2048]]` or `(4, 8)` at a token.  returns  false: not a shape
  bool take_shape(std::size_t open, bool is_output) {
    std::size_t i = open;
    std::int64_t product = 1;
    bool is_any = false;
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      const Token& one = tokens_[i];
      if (one.text == "[" || one.text == "(") {
        ++depth;
      } else if (one.text == "]" || one.text == ")") {
        if (--depth == 0) break;
      } else if (one.is == Token::Is::Number) {
        constexpr std::int64_t kMost = std::int64_t{1} << 40;
        is_any = true;
        const std::int64_t size = std::clamp<std::int64_t>(one.number, 0, kMost);
        product = size > 0 && product > kMost / size ? kMost : product * size;
      } else if (one.text != "," && one.text != "x") {
        return false;
      }
    }
    if (!is_any || i >= tokens_.size()) return false;
    Call& call = target();
    if (is_output) {
      call.output_count = product;
    } else if (call.shape.empty()) {
      call.shape = text_.substr(tokens_[open].at, tokens_[i].at + 1 - tokens_[open].at);
      if (call.input_count < 0) call.input_count = product;
    }
    at_ = i + 1;
    return true;
  }

  static bool is_transfer(string_view operation) {
    return operation == "send" || operation == "recv";
  }

  void finish(Call& call) {
    call.subject = before_.subject;
    if (!call.operation.empty()) give_ends(call);
  }

  std::string text_;
  bool is_entry_ = false;  ///< line of a dump: each word is a field's name or value
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Call before_ = [] {
    Call call;
    call.state = CallState::Unknown;
    return call;
  }();
  std::optional<Call> call_;
  std::vector<Call> calls_;
  int to_ = -1, from_ = -1;
  int unknown_ = 0;  ///< words that do not belong to a call
  bool is_prose_ = false;
  bool is_timed_ = false;
  bool is_arrow_ = false;
  bool is_behind_call_ = false;
  bool is_label_due_ = false;
};

}  // namespace

std::vector<Call> read_calls(std::string_view line) {
  // Each operation's name contains one of these parts, or an arrow marks it: most lines contain none of them.
  constexpr std::size_t kLongest = 600;
  const std::string small = lower_case(line.substr(0, kLongest));
  for (const string_view part : {"reduce", "gather", "scatter", "cast", "barrier", "send", "recv",
                                 "receive", "all_to_all", "alltoall", "<-", "<=", "<<", "done #"}) {
    if (small.find(part) != std::string::npos) return CallReader(line).read();
  }
  return {};
}

bool is_of_transfer(std::string_view line) {
  const std::vector<Call> calls = read_calls(line);
  return std::any_of(calls.begin(), calls.end(), [](const Call& call) {
    return call.operation == "send" || call.operation == "recv";
  });
}

}  // namespace ringside::facts
