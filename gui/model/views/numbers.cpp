#include "gui/model/views/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "base/text.h"
#include "base/vocabulary.h"
#include "trace/replay/critical_path.h"

namespace ringside::gui {
namespace {

// Chosen: bounds the time until the view is shown. With more steps, the chain is omitted.
constexpr std::size_t kMostPathSteps = 1'000'000;
constexpr std::size_t kFewRows = 12;
// Shares of the median rate of all pairs. Chosen: equal links differ by a few per cent; one at half its rate has lost
// lanes or takes another path.
constexpr double kSlow = 0.8;
constexpr double kVerySlow = 0.5;

std::string time_text(std::int64_t ns) { return format_time(Seconds{Nanoseconds{ns}}); }

std::string short_size(std::uint64_t bytes) {
  constexpr std::string_view kSteps = "KMGT";
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t step = 0;
  for (; value >= 1024 && step + 1 < kSteps.size(); ++step) value /= 1024;
  return fmt::format("{:.1f} {}iB", value, kSteps[step]);
}

const char* word_of(PathCause cause) {
  switch (cause) {
    case PathCause::Begin:
      return "its first step";
    case PathCause::Own:
      return "the step before, on its own rank";
    case PathCause::Message:
      return "a chunk in flight";
    case PathCause::Link:
      return "a path that carried the previous chunk";
    case PathCause::Room:
      return "a slot to become free";
  }
  return "";
}

/// Returns the time of the longest chain: by cause, and its longest legs.
Table path_table(const Document& document, const CallFacts& call) {
  Table table{.title = "The longest chain of steps: what each waited for",
              .head = {"waited for", "time", "share", "legs"},
              .rows = {}};
  const Replay& replay = *document.replay;
  if (replay.statistics().primitives > kMostPathSteps) {
    table.note = "not looked for: the trace has too many steps";
    return table;
  }
  const std::vector<PathLeg> path = critical_path(replay, call.communicator, call.sequence);
  std::map<PathCause, std::pair<std::int64_t, int>> terms;
  std::int64_t all = 0;
  for (const PathLeg& leg : path) {
    const std::int64_t time = leg.time.end_ns - leg.time.begin_ns;
    terms[leg.cause].first += time;
    ++terms[leg.cause].second;
    all += time;
  }
  for (const auto& [cause, term] : terms) {
    const double share = all > 0 ? static_cast<double>(term.first) / static_cast<double>(all) : 0;
    table.rows.push_back(
        {{{word_of(cause)},
          {time_text(term.first)},
          {fmt::format("{:.0f} %", 100 * share), static_cast<float>(share), Ink::Text, Ink::Reduce},
          {fmt::format("{}", term.second)}}});
  }
  const auto longest = std::ranges::max_element(
      path, {}, [](const PathLeg& leg) { return leg.time.end_ns - leg.time.begin_ns; });
  if (longest != path.end()) {
    const TraceEvent event = replay.event(longest->step);
    table.rows.push_back({{{fmt::format("longest leg: rank {}, channel {}, {}, step {}", event.rank,
                                        event.channel, to_string(event.primitive), event.step)},
                           {time_text(longest->time.end_ns - longest->time.begin_ns)},
                           {""},
                           {""}},
                          {Target::Kind::Event, to_int(longest->step), 1, 0}});
  }
  if (path.empty()) table.note = "the trace has no steps of this call";
  return table;
}

Table slowest_table(const Document& document) {
  Table table{
      .title = "Ranks and channels by the time that they waited for senders that had not begun",
      .head = {"rank", "channel", "in primitives", "waiting", "GB/s"},
      .rows = {}};
  const TraceStatistics& all = document.replay->statistics();
  std::vector<const ChannelStatistics*> order;
  for (const ChannelStatistics& one : all.channels) order.push_back(&one);
  const std::size_t shown = std::min(order.size(), kFewRows);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown),
                            [](const ChannelStatistics* a, const ChannelStatistics* b) {
                              return std::pair(a->waiting, a->busy) >
                                     std::pair(b->waiting, b->busy);
                            });
  for (std::size_t i = 0; i < shown; ++i) {
    const ChannelStatistics& one = *order[i];
    const double busy = static_cast<double>(std::max<std::int64_t>(one.busy.count(), 1));
    table.rows.push_back(
        {{{fmt::format("{}", to_int(one.rank))},
          {fmt::format("{}", to_int(one.channel))},
          {time_text(one.busy.count())},
          {time_text(one.waiting.count()),
           static_cast<float>(static_cast<double>(one.waiting.count()) / busy), Ink::Text,
           Ink::Waiting},
          {fmt::format("{:.2f}", in_gbs(one.achieved()))}},
         {Target::Kind::Rank, static_cast<std::uint32_t>(to_int(one.rank)), 0, 0}});
  }
  if (order.size() > shown) table.note = fmt::format("{} more", order.size() - shown);
  return table;
}

/// Returns the number of ranks with events in the call's communicator.
int ranks_of(const Document& document, const CallFacts& call) {
  const auto& all = document.replay->statistics().communicators;
  const auto own = std::ranges::find(all, call.communicator, &CommunicatorStatistics::communicator);
  return own == all.end() ? 1 : static_cast<int>(std::max<std::uint64_t>(own->ranks, 1));
}

}  // namespace

double Numbers::PairSum::rate() const {
  return under_way_ns > 0
             ? static_cast<double>(timed_bytes) / static_cast<double>(under_way_ns) * 1e9
             : 0;
}

/// Returns the slowest pairs: a link that is slower than comparable ones is visible, whichever rank waits for it.
Table Numbers::pairs_table(const std::vector<PairSum>& pairs) {
  // Messages of several channels are under way at the same time: their sum is longer than the call.
  Table table{.title = "From rank to rank, the slowest first: while both ends were in a message",
              .head = {"from", "to", "bytes", "time, summed over messages", "GB/s a message",
                       "of the median"},
              .rows = {}};
  std::vector<PairSum> order;
  for (const PairSum& sum : pairs) {
    if (sum.rate() > 0) order.push_back(sum);
  }
  std::ranges::stable_sort(order, {}, &PairSum::rate);
  if (order.empty()) {
    table.note = "nothing has arrived yet";
    return table;
  }
  const double median = order[order.size() / 2].rate();
  const std::size_t shown = std::min(order.size(), kFewRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const PairSum& sum = order[i];
    const double share = sum.rate() / median;
    const Ink ink = share < kVerySlow ? Ink::Bad : share < kSlow ? Ink::Warn : Ink::Text;
    table.rows.push_back(
        {{{fmt::format("{}", sum.from)},
          {fmt::format("{}", sum.to)},
          {short_size(sum.bytes)},
          {time_text(sum.under_way_ns)},
          {fmt::format("{:.2f}", sum.rate() / 1e9)},
          {fmt::format("{:.2f} x", share), static_cast<float>(std::min(share, 1.0)), Ink::Text,
           ink == Ink::Text ? Ink::Send : ink}},
         {Target::Kind::Event, to_int(sum.slowest), 1, 0}});
  }
  if (order.size() > shown)
    table.note =
        fmt::format("{} more, up to {:.2f} GB/s", order.size() - shown, order.back().rate() / 1e9);
  const auto slow_end =
      std::ranges::find_if(order, [&](const PairSum& sum) { return sum.rate() >= kSlow * median; });
  const std::string common = common_rank(std::span(order.begin(), slow_end));
  if (!common.empty()) table.note += (table.note.empty() ? "" : "; ") + common;
  return table;
}

/// Returns a text that names the rank that the slowest of the slow pairs have in common, whose link is to be checked
/// first; empty: no rank, or several. Each rank of the slowest pair is a candidate. The one that is part of more of the
/// following pairs, without a gap, is the common one.
/// slow  the slowest pair is first
std::string Numbers::common_rank(std::span<const PairSum> slow) {
  if (slow.empty()) return {};
  // Returns the number of pairs before the first one without the rank.
  const auto pairs_with = [&](std::int32_t rank) {
    const auto found = std::ranges::find_if(
        slow, [rank](const PairSum& sum) { return sum.from != rank && sum.to != rank; });
    return found - slow.begin();
  };
  const auto [from, to] = std::pair(slow.front().from, slow.front().to);
  const auto as_sender = pairs_with(from);
  const auto as_receiver = pairs_with(to);
  const auto most = std::max(as_sender, as_receiver);
  if (most < 2 || (as_sender == as_receiver && from != to)) return {};
  return fmt::format("the slowest {} have rank {} in common", most,
                     as_sender > as_receiver ? from : to);
}

Numbers::Sums Numbers::Sums::of(const Document& document, const CallFacts* const& call) {
  Sums sums;
  sums.transfers = transfers_of(document, *call);
  sums.path = path_table(document, *call);
  const std::vector<Transfer>& all = sums.transfers.all;
  sums.by_sent.resize(all.size());
  std::iota(sums.by_sent.begin(), sums.by_sent.end(), 0U);
  std::ranges::stable_sort(sums.by_sent, {}, [&](std::uint32_t i) { return all[i].sent_ns; });
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> numbers;
  for (const Transfer& one : all) numbers.try_emplace({one.from, one.to});
  for (auto& [ends, number] : numbers) {
    number = static_cast<std::uint32_t>(sums.pairs.size());
    sums.pairs.push_back({.from = ends.first, .to = ends.second});
  }
  for (const Transfer& one : all) {
    sums.pair_of.push_back(numbers.at({one.from, one.to}));
    sums.all_bytes += one.bytes;
  }
  return sums;
}

/// Forwards adds the messages sent meanwhile; backwards adds all again.
void Numbers::Sums::move_to(std::int64_t now_ns) {
  if (now_ns < moved_to_ns) {
    for (PairSum& pair : pairs) pair = {.from = pair.from, .to = pair.to};
    moved = 0;
    moved_bytes = 0;
  }
  moved_to_ns = now_ns;
  for (; moved < by_sent.size(); ++moved) {
    const Transfer& one = transfers.all[by_sent[moved]];
    if (one.sent_ns > now_ns) break;
    moved_bytes += one.bytes;
    PairSum& pair = pairs[pair_of[by_sent[moved]]];
    pair.bytes += one.bytes;
    if (one.under_way_ns() > 0) {
      pair.timed_bytes += one.bytes;
      pair.under_way_ns += one.under_way_ns();
    }
    if (pair.slowest == kNoEvent || one.under_way_ns() > pair.slowest_ns) {
      pair.slowest = one.send;
      pair.slowest_ns = one.under_way_ns();
    }
  }
}

void Numbers::prepare(const std::shared_ptr<const Document>& shown, const State& state,
                      const Canvas&, Panel& into) {
  const Document& document = *shown;
  const CallFacts* const call = document.call_at(state.now_ns);
  if (call == nullptr) {
    into.lines.emplace_back("The trace has no collective.");
    return;
  }
  Sums* const sums = sums_.of(shown, call);
  if (sums == nullptr) return into.show_preparing(title_of(document, *call));
  sums->move_to(state.now_ns);
  const std::int64_t length = std::max<std::int64_t>(call->time.end_ns - call->time.begin_ns, 1);
  const std::int64_t passed =
      std::clamp<std::int64_t>(state.now_ns - call->time.begin_ns, 0, length);
  const double share = sums->all_bytes > 0 ? static_cast<double>(sums->moved_bytes) /
                                                 static_cast<double>(sums->all_bytes)
                                           : 0;
  into.lines.push_back(title_of(document, *call));
  const Seconds time{Nanoseconds{std::max<std::int64_t>(passed, 1)}};
  // The rate so far, of the share of the call whose messages have been sent.
  const BytesPerSecond algbw{
      passed > 0 ? static_cast<double>(call->bytes.value) * share / time.count() : 0};
  const double factor = busbw_factor(call->collective, ranks_of(document, *call));
  Table now{.title = "So far", .head = {"", ""}, .rows = {}};
  const auto row = [&](std::string name, std::string text, double bar) {
    now.rows.push_back({{{std::move(name)}, {std::move(text), static_cast<float>(bar)}}});
  };
  row("time of the call", fmt::format("{} of {}", time_text(passed), time_text(length)),
      static_cast<double>(passed) / static_cast<double>(length));
  if (sums->transfers.all.empty()) {
    // Whole calls without steps: the rate is known at the call's end.
    const bool has_rate = passed == length && !call->never_ended && call->bytes.value > 0;
    const auto rate = [&](double times) {
      const double gbs = static_cast<double>(call->bytes.value) / static_cast<double>(length);
      return has_rate ? fmt::format("{:.2f} GB/s", gbs * times)
                      : "unknown: the trace has no steps of this call";
    };
    row("algbw", rate(1), 0);
    row("busbw", rate(factor), 0);
    into.tables.push_back(std::move(now));
  } else {
    row("bytes sent",
        fmt::format("{} of {}{}", short_size(sums->moved_bytes), short_size(sums->all_bytes),
                    sums->transfers.is_cut ? " and more" : ""),
        share);
    row("algbw", fmt::format("{:.2f} GB/s", in_gbs(algbw)), 0);
    row("busbw", fmt::format("{:.2f} GB/s", in_gbs(algbw) * factor), 0);
    into.tables.push_back(std::move(now));
    into.tables.push_back(pairs_table(sums->pairs));
    into.tables.push_back(sums->path);
    into.tables.push_back(slowest_table(document));
  }
  for (const Table& table : document.surround.tables) into.tables.push_back(table);
}

}  // namespace ringside::gui
