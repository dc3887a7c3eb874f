#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/markup.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/report/hang_report.h"
#include "diag/report/page.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

using report::Page;

constexpr std::size_t kLanes = 128;  ///< maximum ranks: culprits, then the first ranks
constexpr std::size_t kCalls = 24;   ///< maximum calls per rank: the newest
constexpr int kBox = 34;
constexpr int kHeight = 18;
constexpr int kLeft = 70;

constexpr std::string_view kStyle =
    R"(text{font:11px ui-monospace,monospace;fill:var(--ink)}svg{color:var(--ink)}
.n{fill:#000}.c{font-weight:bold}.k{display:inline-block;width:12px;height:12px;margin-right:4px}
.e{white-space:nowrap;margin-right:1em}
)";

// Colours that do not require distinguishing red and green; waiting calls also have a thick border.
constexpr const char* kColours[] = {"#4477aa", "#66ccee", "#228833", "#ccbb44",
                                    "#ee6677", "#aa3377", "#bbbbbb", "#999933"};

std::vector<int> lanes_of(const Examination& all) {
  std::vector<int> lanes = all.verdict.best.culprits;
  // Without dumps, logs may name culprits of a job whose ranks are unknown.
  std::erase_if(lanes, [&](int rank) { return rank >= all.job->world(); });
  lanes.resize(std::min(lanes.size(), kLanes));
  for (int rank = 0; rank < all.job->world() && lanes.size() < kLanes; ++rank) {
    if (std::find(lanes.begin(), lanes.end(), rank) == lanes.end()) lanes.push_back(rank);
  }
  std::sort(lanes.begin(), lanes.end());
  return lanes;
}

std::string box(const Examination& all, int rank, std::size_t index, int x, int y) {
  const RankView& view = all.job->rank(rank);
  const Call& call = view.dump->calls[index];
  const int group = view.group_of_call[index];
  const auto& block = all.wait_state.blocks[static_cast<std::size_t>(rank)];
  const bool is_stuck_here = block && block->call == index;
  const char* colour = group < 0 ? "#dddddd" : kColours[static_cast<std::size_t>(group) % 8];
  const std::string title = group < 0 ? "group unknown"
                                      : fmt::format("{}: {}{}", call_title(*all.job, group, call),
                                                    call_text(all.job->signature(call)),
                                                    is_stuck_here       ? " (stuck here)"
                                                    : call.is_pending() ? " (pending)"
                                                                        : "");
  return fmt::format(
      "<g><title>{}</title><rect x='{}' y='{}' width='{}' height='{}' fill='{}' fill-opacity='{}' "
      "stroke='{}' stroke-width='{}'/><text x='{}' y='{}' class='{}'>{}</text></g>\n",
      escaped_markup(title), x, y, kBox - 4, kHeight - 4, colour,
      call.is_pending() ? "0.35" : "0.9", is_stuck_here ? "currentColor" : "none",
      is_stuck_here ? 2 : 0, x + 3, y + 11, call.is_pending() ? "r" : "n", call.sequence);
}

std::string lane(const Examination& all, int rank, int y) {
  const auto& culprits = all.verdict.best.culprits;
  const bool is_culprit = std::binary_search(culprits.begin(), culprits.end(), rank);
  const RankView& view = all.job->rank(rank);
  const auto& block = all.wait_state.blocks[static_cast<std::size_t>(rank)];
  std::string where = view.dump == nullptr ? "no dump of this rank was read" : "not blocked";
  if (view.dump != nullptr && block)
    where = "stuck in " + call_title(*all.job, block->group, view.dump->calls[block->call]);
  std::string out =
      fmt::format("<g><title>rank {}{}: {}</title><text x='4' y='{}' class='{}'>{}rank {}</text>",
                  rank, is_culprit ? ", a culprit" : "", escaped_markup(where), y + 12,
                  is_culprit ? "c" : "r", is_culprit ? "> " : "", rank);
  if (view.dump == nullptr) {
    return out + fmt::format("<text x='{}' y='{}' class='r'>no dump</text></g>\n", kLeft, y + 12);
  }
  out += "</g>\n";
  const std::size_t size = view.dump->calls.size();
  const std::size_t first = size > kCalls ? size - kCalls : 0;
  for (std::size_t i = first; i < size; ++i) {
    out += box(all, rank, i, kLeft + static_cast<int>(i - first) * kBox, y);
  }
  return out;
}

std::string legend(const Examination& all) {
  constexpr std::size_t kMostGroups = 24;
  std::set<int> with_calls;
  for (int rank = 0; rank < all.job->world(); ++rank) {
    for (const GroupCalls& calls : all.job->rank(rank).groups) with_calls.insert(calls.group);
  }
  std::string out = "<p>";
  std::size_t shown = 0;
  for (const int group : with_calls) {
    if (group < 0 || shown == kMostGroups) continue;
    ++shown;
    out += fmt::format("<span class='e'><span class='k' style='background:{}'></span>{}</span> ",
                       kColours[static_cast<std::size_t>(group) % 8],
                       escaped_markup(title_of(all.job->group(group))));
  }
  return out + "</p>\n";
}

/// Returns a heading such as "Rank 1 hung the job at send 17 (confidence 0.69)".
std::string heading(const Explanation& best) {
  if (best.kind == Kind::NotAHang) {
    return fmt::format("The job does not hang (confidence {:.2f})", best.confidence);
  }
  std::string who =
      best.culprits.empty() ? "The job hung" : ranks_text(best.culprits) + " hung the job";
  who.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(who.front())));
  const std::string where = best.call.empty() ? "" : " at " + best.call;
  const char* const unknown = best.culprits.empty() ? ", no culprit is known" : "";
  return fmt::format("{}{}{} (confidence {:.2f})", who, where, unknown, best.confidence);
}

/// Returns the next step, and the page of the finding, which is folded.
std::string advice(const Examination& all) {
  const Explanation& best = all.verdict.best;
  std::string out;
  const std::string next = next_of(best, *all.job, all.facts);
  if (!next.empty()) out += fmt::format("<h2>Next</h2>\n<p>{}</p>\n", escaped_markup(next));
  const std::vector<std::string> missing = missing_of(best, all.job.get());
  if (!missing.empty()) out += "<p>To increase confidence, collect</p>\n<ul>\n";
  for (const std::string& one : missing) out += fmt::format("<li>{}</li>\n", escaped_markup(one));
  if (!missing.empty()) out += "</ul>\n";
  const auto about = page_of(to_string(best.kind));
  if (!about) return out;
  const std::size_t heading = about->find("\n\n");  // the verdict repeats its name
  return out + fmt::format(
                   "<details><summary>What {} means, how to confirm and fix it</summary>"
                   "<pre>{}</pre></details>\n",
                   to_string(best.kind),
                   escaped_markup(about->substr(heading == about->npos ? 0 : heading + 2)));
}

std::string last_calls(const Examination& all, const std::vector<int>& lanes) {
  std::string out = "<h2>The last calls of each rank</h2>\n" + legend(all);
  out += fmt::format("<div class='scroll'><svg width='{}' height='{}' role='img'>\n",
                     kLeft + static_cast<int>(kCalls) * kBox + 10,
                     static_cast<int>(lanes.size()) * kHeight + 10);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    out += lane(all, lanes[i], static_cast<int>(i) * kHeight + 4);
  }
  out +=
      "</svg></div>\n<p>Numbers are sequence numbers in their group; pale: not finished; framed: "
      "where the rank is stuck.";
  if (static_cast<std::size_t>(all.job->world()) > lanes.size()) {
    out += fmt::format(" {} of {} ranks are drawn.", lanes.size(), all.job->world());
  }
  return out + "</p>\n";
}

}  // namespace

std::string report_html(const Examination& all) {
  const Explanation& best = all.verdict.best;
  Page page("ringside hang", heading(best), kStyle);
  page += fmt::format("<p>{}: {}</p>\n", to_string(best.kind), escaped_markup(why_of(best)));
  page += advice(all);
  const std::vector<int> lanes = lanes_of(all);
  if (!lanes.empty()) page += last_calls(all, lanes);
  page += "<h2>In words</h2>\n";
  page.box(report_text(all));
  return std::move(page).finish();
}

}  // namespace ringside::hang
