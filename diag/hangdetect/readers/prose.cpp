#include "diag/hangdetect/readers/prose.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "base/hang_class.h"
#include "base/text.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;
using logs::trimmed;

/// What is said of some ranks.
struct Claim {
  enum class What : std::uint8_t { Nothing, Waits, Busy, Comes, Stays, Died, At, Behind };
  What what = What::Nothing;
  Op op = Op::Other;         ///< of Waits, where it is named
  std::int64_t number = -1;  ///< of At: a step or a sequence number
};

/// Of whom.
struct Subject {
  std::vector<int> ranks;  ///< empty: all, or all others
  bool is_only = false;
  bool is_exception = false;  ///< `all but rank 5`
  std::size_t begin = 0, end = 0;
  Claim claim;
  [[nodiscard]] bool are_others() const { return ranks.empty(); }
};

template <std::size_t N>
std::size_t first_of_words(std::string_view text, const std::array<std::string_view, N>& words) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view word : words) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      if (at > 0 && is_letter(text[at - 1]) && is_letter(word.front())) continue;
      first = std::min(first, at);
      break;
    }
  }
  return first;
}

constexpr std::array kSpokenOps = {
    std::string_view{"allreduce"},      std::string_view{"all_reduce"},
    std::string_view{"all-reduce"},     std::string_view{"allgather"},
    std::string_view{"all_gather"},     std::string_view{"all-gather"},
    std::string_view{"_allgather"},     std::string_view{"reduce_scatter"},
    std::string_view{"reduce-scatter"}, std::string_view{"reducescatter"},
    std::string_view{"broadcast"},      std::string_view{"barrier"},
    std::string_view{"alltoall"},       std::string_view{"all_to_all"},
    std::string_view{"all-to-all"},     std::string_view{"gather"}};

constexpr std::array kSpokenCommunication = {std::string_view{"collective"},
                                             std::string_view{"nccl"},
                                             std::string_view{"recv"},
                                             std::string_view{"send"},
                                             std::string_view{"synchronize"},
                                             std::string_view{"clip_grad"},
                                             std::string_view{"wait_for_everyone"}};

constexpr std::array kSpokenWork = {
    std::string_view{"save"},       std::string_view{"saving"},      std::string_view{"checkpoint"},
    std::string_view{"download"},   std::string_view{"loading"},     std::string_view{"load_"},
    std::string_view{"dataloader"}, std::string_view{"data loader"}, std::string_view{"eval"},
    std::string_view{"validat"},    std::string_view{"tokeniz"},     std::string_view{"compil"},
    std::string_view{"writing"},    std::string_view{"upload"},      std::string_view{"wandb"},
    std::string_view{"next(iter"},  std::string_view{"iterator"},    std::string_view{"dataset"},
    std::string_view{"reading"},    std::string_view{"logging"},     std::string_view{"forward"},
    std::string_view{"generat"},    std::string_view{"python code"}, std::string_view{"pdb"},
    std::string_view{"filelock"},   std::string_view{"torch.load"},  std::string_view{"importing"}};

constexpr std::array kSpokenDeath = {
    std::string_view{"died"},    std::string_view{"crashed"},       std::string_view{"crashes"},
    std::string_view{"killed"},  std::string_view{"segfault"},      std::string_view{"sigkill"},
    std::string_view{"oom"},     std::string_view{"out of memory"}, std::string_view{"is gone"},
    std::string_view{"is dead"}, std::string_view{"disappeared"},   std::string_view{"exited"},
    std::string_view{"evicted"}, std::string_view{"vanished"},      std::string_view{"was gone"}};

constexpr std::array kSpokenNegations = {
    std::string_view{"never"},     std::string_view{"not "},
    std::string_view{"n't "},      std::string_view{"n\xe2\x80\x99t "},
    std::string_view{"fails to "}, std::string_view{"failed to "}};

constexpr std::array kSpokenComing = {
    std::string_view{"print"},   std::string_view{"reach"},  std::string_view{"enter"},
    std::string_view{"join"},    std::string_view{"call"},   std::string_view{"arriv"},
    std::string_view{"come"},    std::string_view{"came"},   std::string_view{"get to"},
    std::string_view{"gets to"}, std::string_view{"got to"}, std::string_view{"show"},
    std::string_view{"log"},     std::string_view{"hit"},    std::string_view{"make it"},
    std::string_view{"made it"}, std::string_view{"appear"}, std::string_view{"launch"},
    std::string_view{"issue"},   std::string_view{"start"}};

constexpr std::array kSpokenAway = {std::string_view{"missing"},   std::string_view{"absent"},
                                    std::string_view{"skips"},     std::string_view{"skipped"},
                                    std::string_view{"no output"}, std::string_view{"silent"},
                                    std::string_view{"nowhere"}};

constexpr std::array kSpokenWaiting = {
    std::string_view{"wait"},      std::string_view{"stuck"},    std::string_view{"hang"},
    std::string_view{"hung"},      std::string_view{"blocked"},  std::string_view{"time out"},
    std::string_view{"times out"}, std::string_view{"timed out"}};

/// The number behind `at `, and behind the word for what is counted: `at seqnum=811`, `at step 12,000`, `at 811`.
std::int64_t number_at_place(std::string_view text) {
  static constexpr std::array kBefore = {
      std::string_view{"at "},  std::string_view{"on "},    std::string_view{"seqnum"},
      std::string_view{"seq"},  std::string_view{"step"},   std::string_view{"iteration"},
      std::string_view{"iter"}, std::string_view{"op"},     std::string_view{"collective"},
      std::string_view{"#"},    std::string_view{"number"}, std::string_view{"sequence"}};
  for (const std::string_view word : kBefore) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      if (at > 0 && is_letter(text[at - 1])) continue;
      std::size_t digit = text.find_first_not_of(" =#:", at + word.size());
      if (digit == std::string_view::npos || !is_digit(text[digit])) continue;
      const std::size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
      // `at 100% utilisation`, `at 12:04`, `at 3.5 it/s` count no calls.
      const std::string_view behind = text.substr(end);
      const bool is_fraction = behind.size() > 1 && behind[0] == '.' && is_digit(behind[1]);
      const bool is_other = is_fraction || behind.starts_with('%') || behind.starts_with(" %") ||
                            behind.starts_with(':');
      if (is_other || end - digit > 12) continue;
      return parse_whole(text.substr(digit, end - digit)).value_or(-1);
    }
  }
  return -1;
}

Claim claim_of(std::string_view text) {
  using What = Claim::What;
  constexpr std::size_t kNone = std::string_view::npos;
  Claim claim;
  if (first_of_words(text, kSpokenDeath) != kNone) {
    claim.what = What::Died;
    return claim;
  }
  const std::size_t negation = std::min(text.find("never"), first_of_words(text, kSpokenNegations));
  const std::size_t negated = text.find("n't ");
  const bool is_negated = negation != kNone || negated != kNone;
  if (first_of_words(text, kSpokenAway) != kNone ||
      (is_negated && first_of_words(text, kSpokenComing) != kNone)) {
    claim.what = What::Stays;
    return claim;
  }
  if (text.find("behind") != kNone) {
    claim.what = What::Behind;
    return claim;
  }
  claim.number = number_at_place(text);
  const std::size_t op = first_of_words(text, kSpokenOps);
  if (op != kNone) claim.op = op_of(text.substr(op + (text[op] == '_' ? 1 : 0), 24));
  if (claim.number >= 0) {
    claim.what = What::At;
    return claim;
  }
  if (is_negated) return claim;
  const std::size_t communication = std::min(op, first_of_words(text, kSpokenCommunication));
  const std::size_t work = first_of_words(text, kSpokenWork);
  if (communication != kNone || work != kNone) {
    claim.what = work < communication ? What::Busy : What::Waits;
  } else if (first_of_words(text, kSpokenWaiting) != kNone) {
    claim.what = What::Waits;
  } else if (first_of_words(text, kSpokenComing) != kNone) {
    claim.what = What::Comes;
  }
  return claim;
}

/// `ranks 0, 1 and 2`, `rank 7`, `ranks 0 to 6` at `at`, which is a word's beginning.
std::optional<Subject> named_ranks(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("rank")) return std::nullopt;
  const std::string_view before = trimmed(text.substr(0, at));
  if (before.ends_with("local") || before.ends_with("node") || before.ends_with("group"))
    return std::nullopt;
  std::size_t end = at + 4;
  const bool are_many = end < text.size() && text[end] == 's';
  if (are_many) ++end;
  const std::size_t number = text.find_first_not_of(" #=:_-", end);
  if (number == std::string_view::npos || number - end > 2 || !is_digit(text[number]))
    return std::nullopt;
  std::string list;
  constexpr std::size_t kMostDigits = 6;
  for (end = number; end < text.size();) {
    if (is_digit(text[end])) {
      const std::size_t digits = std::min(text.find_first_not_of("0123456789", end), text.size());
      if (digits - end > kMostDigits) return std::nullopt;
      list += text.substr(end, digits - end);
      end = digits;
      continue;
    }
    // Between two numbers of a list.
    static constexpr std::array kBetween = {
        std::pair{std::string_view{" through "}, '-'}, std::pair{std::string_view{" and "}, ','},
        std::pair{std::string_view{", and "}, ','},    std::pair{std::string_view{" to "}, '-'},
        std::pair{std::string_view{".."}, '-'},        std::pair{std::string_view{" - "}, '-'},
        std::pair{std::string_view{"-"}, '-'},         std::pair{std::string_view{", "}, ','},
        std::pair{std::string_view{","}, ','},         std::pair{std::string_view{" & "}, ','},
        std::pair{std::string_view{"/"}, ','}};
    const auto found = std::find_if(kBetween.begin(), kBetween.end(), [&](const auto& one) {
      const std::size_t next = end + one.first.size();
      return text.substr(end).starts_with(one.first) && next < text.size() && is_digit(text[next]);
    });
    if (found == kBetween.end() || (!are_many && found->second == ',')) break;
    list += found->second;
    end += found->first.size();
  }
  Subject subject;
  for (const std::int32_t rank : logs::parse_rank_list(list)) {
    constexpr std::size_t kMostNamed = 4'096;
    if (rank >= kMostRanks || subject.ranks.size() >= kMostNamed) return std::nullopt;
    subject.ranks.push_back(rank);
  }
  std::sort(subject.ranks.begin(), subject.ranks.end());
  if (subject.ranks.empty()) return std::nullopt;
  subject.begin = at;
  subject.end = end;
  return subject;
}

/// `everyone`, `all other ranks`, `the others`
std::optional<Subject> all_others(std::string_view text, std::size_t at) {
  static constexpr std::array kWords = {std::string_view{"all the other ranks"},
                                        std::string_view{"all other ranks"},
                                        std::string_view{"all the others"},
                                        std::string_view{"all others"},
                                        std::string_view{"the other ranks"},
                                        std::string_view{"other ranks"},
                                        std::string_view{"the others"},
                                        std::string_view{"every other rank"},
                                        std::string_view{"everyone else"},
                                        std::string_view{"everybody else"},
                                        std::string_view{"the remaining"},
                                        std::string_view{"the rest"},
                                        std::string_view{"all ranks"},
                                        std::string_view{"every rank"},
                                        std::string_view{"everyone"},
                                        std::string_view{"everybody"},
                                        std::string_view{"all but"},
                                        std::string_view{"the other"},
                                        std::string_view{"all processes"},
                                        std::string_view{"others"},
                                        std::string_view{"all wait"},
                                        std::string_view{"all stuck"},
                                        std::string_view{"all hang"},
                                        std::string_view{"all blocked"},
                                        std::string_view{"all of them"},
                                        std::string_view{"all gpus"}};
  for (const std::string_view word : kWords) {
    if (!text.substr(at).starts_with(word)) continue;
    Subject subject;
    subject.begin = at;
    subject.end = at + word.size();
    // `but` makes an exception of what follows; `they all wait` says what they do.
    static constexpr std::array kHeads = {
        std::string_view{"all but"}, std::string_view{"all wait"}, std::string_view{"all stuck"},
        std::string_view{"all hang"}, std::string_view{"all blocked"}};
    if (std::find(kHeads.begin(), kHeads.end(), word) != kHeads.end()) subject.end = at + 3;
    if (text.substr(subject.end).starts_with(" but one")) subject.end += 8;
    // `the other 7 ranks`
    if (word == "the other" || word == "the remaining") {
      const std::size_t ranks = text.substr(subject.end, 24).find("rank");
      if (ranks == std::string_view::npos) return std::nullopt;
      subject.end = std::min(text.find(' ', subject.end + ranks), text.size());
    }
    return subject;
  }
  return std::nullopt;
}

std::vector<Subject> subjects_in(std::string_view text) {
  std::vector<Subject> found;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !(is_letter(text[at - 1]) || text[at - 1] == '_');
    std::optional<Subject> one;
    if (begins_word) one = named_ranks(text, at);
    if (begins_word && !one) one = all_others(text, at);
    if (!one) {
      ++at;
      continue;
    }
    const std::string_view before = trimmed(text.substr(0, at));
    one->is_only = before.ends_with("only") || before.ends_with("just");
    const bool follows_others = !found.empty() && found.back().are_others();
    for (const std::string_view word :
         {"except", "except for", "apart from", "other than", "besides", "excluding"}) {
      one->is_exception |= !one->are_others() && before.ends_with(word);
    }
    one->is_exception |= !one->are_others() && follows_others && before.ends_with(" but") &&
                         at - found.back().end < 6;
    at = one->end;
    // `ranks 0-3 and rank 5`
    const bool goes_on =
        !found.empty() && !found.back().are_others() && !one->are_others() && !one->is_exception &&
        (trimmed(text.substr(found.back().end, one->begin - found.back().end)) == "and" ||
         trimmed(text.substr(found.back().end, one->begin - found.back().end)) == ",");
    if (goes_on) {
      found.back().ranks.insert(found.back().ranks.end(), one->ranks.begin(), one->ranks.end());
      std::sort(found.back().ranks.begin(), found.back().ranks.end());
      found.back().end = one->end;
    } else {
      found.push_back(*std::move(one));
    }
  }
  return found;
}

void take_claims(std::string_view text, std::vector<Subject>& subjects) {
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Subject& one = subjects[i];
    const std::size_t next = i + 1 < subjects.size() ? subjects[i + 1].begin : text.size();
    one.claim = claim_of(text.substr(one.end, next - one.end));
    // `the process died on rank 3`
    const std::size_t last = i == 0 ? 0 : subjects[i - 1].end;
    const std::string_view before = text.substr(last, one.begin - last);
    const bool is_behind = before.ends_with(" on ") || before.ends_with(" of ") ||
                           before.ends_with(" from ") || before.ends_with(" for ");
    if (one.claim.what == Claim::What::Nothing && is_behind && i == 0) one.claim = claim_of(before);
    // `all ranks except rank 5 are in the barrier`
    const bool owes = one.is_exception && i > 0 && subjects[i - 1].are_others() &&
                      subjects[i - 1].claim.what == Claim::What::Nothing;
    if (owes) std::swap(subjects[i - 1].claim, one.claim);
  }
}

bool is_supposed(std::string_view text) {
  static constexpr std::array kWords = {
      std::string_view{"if "},      std::string_view{"suppose"},  std::string_view{"imagine"},
      std::string_view{"would "},   std::string_view{"could "},   std::string_view{"might "},
      std::string_view{"should "},  std::string_view{"assum"},    std::string_view{"example"},
      std::string_view{"e.g."},     std::string_view{"whether "}, std::string_view{"expect"},
      std::string_view{"must "},    std::string_view{"may "},     std::string_view{"can "},
      std::string_view{"make sure"}};
  return text.ends_with('?') || first_of_words(text, kWords) != std::string_view::npos;
}

/// Of two groups the one to ask: by what it does, and by how few it is.
struct SpokenVerdict {
  std::vector<int> ranks;
  HangClass kind = HangClass::Unknown;
};

bool are_spoken_few(const Subject& some, const Subject& others) {
  return !some.are_others() &&
         (others.are_others() || some.ranks.size() * 2 <= others.ranks.size());
}

std::optional<SpokenVerdict> contrast(const Subject& a, const Subject& b) {
  using What = Claim::What;
  const bool is_waiting =
      b.claim.what == What::Waits || b.claim.what == What::Comes || b.claim.what == What::At;
  if (a.are_others() || !is_waiting) return std::nullopt;
  const bool is_one_to_one = a.ranks.size() <= (b.are_others() ? a.ranks.size() : b.ranks.size());
  switch (a.claim.what) {
    case What::Busy:
      if (is_one_to_one && b.claim.what == What::Waits)
        return SpokenVerdict{a.ranks, HangClass::MissingRank};
      break;
    case What::Stays:
      if (is_one_to_one) return SpokenVerdict{a.ranks, HangClass::MissingRank};
      break;
    case What::At:
      if (b.claim.what == What::At && are_spoken_few(a, b) && a.claim.number != b.claim.number)
        return SpokenVerdict{a.ranks, a.claim.number < b.claim.number
                                          ? HangClass::MissingRank
                                          : HangClass::DivergedControlFlow};
      break;
    case What::Waits:
      if (b.claim.what == What::Waits && are_spoken_few(a, b) && a.claim.op != b.claim.op &&
          a.claim.op != Op::Other && b.claim.op != Op::Other)
        return SpokenVerdict{a.ranks, HangClass::DivergedControlFlow};
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// What a subject's claim says without another to compare it with.
std::optional<SpokenVerdict> alone(const Subject& one, const std::vector<Subject>& all) {
  using What = Claim::What;
  constexpr std::size_t kFew = 2;
  if (one.are_others()) return std::nullopt;
  const bool are_others_told = std::any_of(all.begin(), all.end(), [](const Subject& other) {
    return other.are_others() && other.claim.what != What::Nothing;
  });
  if (one.is_exception && are_others_told) return SpokenVerdict{one.ranks, HangClass::MissingRank};
  if (one.ranks.size() > kFew) return std::nullopt;
  switch (one.claim.what) {
    case What::Died:
      return SpokenVerdict{one.ranks, HangClass::DeadRank};
    case What::Stays:
    case What::Behind:
      return SpokenVerdict{one.ranks, HangClass::MissingRank};
    default:
      return std::nullopt;
  }
}

std::optional<SpokenVerdict> judge(const std::vector<Subject>& subjects) {
  for (const Subject& one : subjects) {
    if (one.claim.what == Claim::What::Died) {
      if (auto found = alone(one, subjects)) return found;
    }
  }
  for (const Subject& one : subjects) {
    for (const Subject& other : subjects) {
      if (&one == &other) continue;
      if (auto found = contrast(one, other)) return found;
    }
  }
  for (const Subject& one : subjects) {
    if (auto found = alone(one, subjects)) return found;
  }
  return std::nullopt;
}

std::vector<LogStatement> stated_by_person(const std::optional<SpokenVerdict>& found,
                                           std::string_view text) {
  if (!found || found->ranks.empty()) return {};
  LogStatement one;
  one.what = LogStatement::What::Person;
  one.ranks = found->ranks;
  one.code = static_cast<std::int64_t>(found->kind);
  one.text = std::string(text.substr(0, Statements::kShown));
  return {std::move(one)};
}

/// A line of a person's, or of a program that writes as one; not of a logger's.
bool may_be_prose(std::string_view text) {
  constexpr std::size_t kLongest = 2'000;
  if (text.size() < 8 || text.size() > kLongest || text.front() == '[' || text.front() == '{' ||
      is_digit(text.front()))
    return false;
  for (const std::string_view word :
       {"]:[", ".cpp:", "WorkNCCL(", "CCL INFO", "CCL WARN", "File \"", "srun:", "slurmstepd",
        "Error: ", "Exception: ", "INFO", "WARNING", "DEBUG", " | ", "PG ID", "Fingerprint",
        "has not been", "To our best knowledge", "what():"}) {
    if (text.find(word) != std::string_view::npos) return false;
  }
  return !logs::begins_as_message(text);
}

/// `- ranks 0-6: `, `rank 7 - `: where the list's line speaks of whom, at its beginning.
std::optional<Subject> item_of(std::string_view line) {
  std::string_view text = line;
  while (!text.empty() && std::string_view("-*+ `").find(text.front()) != text.npos)
    text.remove_prefix(1);
  auto subject = named_ranks(text, 0);
  if (!subject) subject = all_others(text, 0);
  if (!subject) return std::nullopt;
  const std::string_view rest = trimmed(text.substr(subject->end));
  const bool is_parted = rest.starts_with(':') || rest.starts_with('-') || rest.starts_with('=') ||
                         rest.starts_with("\xe2\x80\x94") || rest.starts_with("\xe2\x80\x93");
  constexpr std::size_t kLongest = 120;
  if (!is_parted || rest.size() > kLongest) return std::nullopt;
  subject->claim = claim_of(rest);
  return subject;
}

/// Lines of which each tells of other ranks than the others, so that they are no log of what happened.
std::vector<LogStatement> judge_list(const std::vector<Subject>& items, std::string_view text) {
  std::set<int> seen;
  std::size_t count = 0;
  for (const Subject& item : items) {
    seen.insert(item.ranks.begin(), item.ranks.end());
    count += item.ranks.size();
  }
  if (items.size() < 2 || seen.size() != count) return {};
  // Those that do the same are one.
  std::vector<Subject> groups;
  for (const Subject& item : items) {
    if (item.claim.what == Claim::What::Nothing) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Subject& group) {
      return group.are_others() == item.are_others() && group.claim.what == item.claim.what &&
             group.claim.op == item.claim.op && group.claim.number == item.claim.number;
    });
    if (same == groups.end()) {
      groups.push_back(item);
    } else {
      same->ranks.insert(same->ranks.end(), item.ranks.begin(), item.ranks.end());
      std::sort(same->ranks.begin(), same->ranks.end());
    }
  }
  return groups.size() == 2 ? stated_by_person(judge(groups), text) : std::vector<LogStatement>{};
}

}  // namespace

std::vector<LogStatement> read_sentence(std::string_view sentence) {
  std::string text = lower_case(trimmed(sentence));
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  text.erase(std::remove(text.begin(), text.end(), '*'), text.end());
  if (is_supposed(text)) return {};
  std::vector<Subject> subjects = subjects_in(text);
  if (subjects.empty()) return {};
  take_claims(text, subjects);
  return stated_by_person(judge(subjects), trimmed(sentence));
}

std::vector<LogStatement> read_prose(const std::vector<PasteLine>& lines,
                                     const std::vector<bool>& used, const std::string& file) {
  std::vector<LogStatement> found;
  std::string text;  // of lines that may be one sentence
  std::int64_t number = 0;
  std::vector<Subject> items;
  std::string first_item;
  std::int64_t item_number = 0;
  const auto add = [&](std::vector<LogStatement> some, std::int64_t line) {
    for (LogStatement& one : some) {
      one.file = file;
      one.line = line;
      found.push_back(std::move(one));
    }
  };
  const auto end_text = [&] {
    std::string_view rest = text;
    while (!rest.empty()) {
      std::size_t end = std::string_view::npos;
      for (const std::string_view mark : {". ", "! ", "? ", "; "})
        end = std::min(end, rest.find(mark));
      if (end == std::string_view::npos) end = rest.size() - 1;
      add(read_sentence(rest.substr(0, end + 1)), number);
      rest.remove_prefix(end + 1);
    }
    text.clear();
  };
  const auto end_items = [&] {
    add(judge_list(items, first_item), item_number);
    items.clear();
  };
  constexpr std::size_t kMost = 16'384;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PasteLine& line = lines[i];
    const bool is_prose = !used[i] && may_be_prose(line.text);
    // What a collector gave a time is a line of its own.
    const bool is_stamped = !line.stamp.empty();
    std::optional<Subject> item = used[i] ? std::nullopt : item_of(lower_case(line.text));
    if (!item || line.follows_blank) end_items();
    if (!is_prose || line.follows_blank || is_stamped || item || text.size() > kMost) end_text();
    if (item) {
      if (items.empty()) {
        first_item = line.text;
        item_number = line.number;
      }
      items.push_back(*std::move(item));
      continue;
    }
    if (!is_prose) continue;
    if (text.empty()) number = line.number;
    text += (text.empty() ? "" : " ") + line.text;
  }
  end_text();
  end_items();
  return found;
}

}  // namespace ringside::hang
