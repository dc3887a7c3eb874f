#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/gui/documents.h"

namespace ringside::gui {

/// Something that may be opened.
struct AnyOpened {
  std::string name;
  std::function<std::shared_ptr<const Document>()> make;
};

/// Returns a hung job: calls without steps, the second of which rank 1 never made, its waits, and a verdict.
inline std::shared_ptr<const Document> hung_document() {
  std::vector<TraceEvent> events;
  for (int rank = 0; rank < 4; ++rank) {
    for (std::uint32_t call = 0; call < (rank == 1 ? 1U : 2U); ++call) {
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.rank = rank;
      event.sequence = call;
      event.begin_ns = std::int64_t{1'000'000} * (call + 1) + std::int64_t{1000} * rank;
      event.end_ns = event.begin_ns + 500'000;
      event.bytes = 1U << 20;
      events.push_back(event);
    }
  }
  auto document = std::make_shared<Document>(*document_of(events));
  document->findings.push_back({.weight = Finding::Weight::Fault,
                                .title = "missing rank: rank 1",
                                .lines = {"it never came to call 1"},
                                .ranks = {1}});
  for (int rank = 0; rank < 4; ++rank) {
    WaitingRank one{.rank = rank, .for_whom = {}, .at = "all_reduce, call 1"};
    one.is_culprit = rank == 1;
    if (rank != 1) one.for_whom = {1};
    document->waits.push_back(one);
  }
  document->waits_until.assign(events.size(), INT64_MAX);
  document->communicators = {"world"};
  return document;
}

/// Returns the first half of a file, which ends within a block.
inline std::shared_ptr<const Document> torn_document() {
  const std::vector<TraceEvent> events = regular_events(4, 2, 50);
  auto bytes = std::make_shared<FileBytes>(file_of(events, 40));
  bytes->resize(bytes->size() / 2);
  auto document = std::make_shared<Document>(
      make_document("torn", *Replay::make(*TraceFile::parse(*bytes, "torn"))));
  document->keeps = bytes;
  return document;
}

inline const std::vector<AnyOpened>& many_documents() {
  static const std::vector<AnyOpened> all{
      {"LateAllReduce", late_document},
      {"Ring", [] { return document_of(regular_events(8, 4, 200)); }},
      {"AnyEvents",
       [] {
         std::mt19937 random(2);
         return document_of(random_events(random, 2000, {.ranks = 6}));
       }},
      {"Hung", hung_document},
      {"Torn", torn_document},
      {"Empty", [] { return document_of({}); }},
      {"OneEvent", [] { return document_of(regular_events(1, 1, 1)); }},
      {"TenThousandRanks", [] { return document_of(regular_events(10'000, 1, 2)); }},
  };
  return all;
}

}  // namespace ringside::gui
