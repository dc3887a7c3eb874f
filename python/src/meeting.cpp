#include "python/src/meeting.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace ringside::pytorch {
namespace {

using Time = std::chrono::steady_clock;

/// Turns an exception of the store into an error. The store throws if its server is gone.
template <typename Body>
auto asked(Body&& body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::System, std::string("PyTorch's store: ") + thrown.what(),
                 "look whether the process that serves it, rank 0, still runs"};
  }
}

std::string leave_key(int rank) { return "left/" + std::to_string(rank); }

}  // namespace

std::string seconds(std::chrono::milliseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1e3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

Status put(c10d::Store& store, const std::string& key, const std::string& value) {
  const auto done = asked([&] {
    store.set(key, std::vector<std::uint8_t>(value.begin(), value.end()));
    return true;
  });
  return done ? Status() : Status(done.error());
}

void announce_leave(c10d::Store& store, int rank) {
  static_cast<void>(put(store, leave_key(rank), "left"));
}

Result<bool> has_left(c10d::Store& store, int rank) {
  return asked([&] { return store.check({leave_key(rank)}); });
}

Result<std::string> wait_for_key(const Meeting& meeting) {
  const Time::time_point end = Time::now() + meeting.limit;
  std::chrono::microseconds pause{200};
  for (;;) {
    const Result<bool> is_there = asked([&] { return meeting.store->check({meeting.key}); });
    if (!is_there) return is_there.error();
    if (*is_there) break;
    if (meeting.look) {
      const Status seen = meeting.look();
      if (!seen) return seen.error();
    }
    if (Time::now() >= end) {
      return Error{ErrorCode::Timeout, "no other rank joined within " + seconds(meeting.limit)};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(2 * pause, std::chrono::milliseconds(10));
  }
  return asked([&] {
    const std::vector<std::uint8_t> value = meeting.store->get(meeting.key);
    return std::string(value.begin(), value.end());
  });
}

Result<Communicator> meet(const Meeting& meeting, const CommunicatorConfig& config) {
  CommunicatorId id;
  if (meeting.rank == 0) {
    Result<CommunicatorId> made = CommunicatorId::make(config.connect_timeout);
    if (!made) return made.error();
    id = *made;
    const auto* const letters = reinterpret_cast<const char*>(id.bytes.data());
    const Status told = put(*meeting.store, meeting.key, std::string(letters, id.bytes.size()));
    if (!told) return told.error();
  } else {
    const Result<std::string> text = wait_for_key(meeting);
    if (!text) return text.error();
    if (text->size() != id.bytes.size()) {
      return Error{ErrorCode::Corrupt, "an id of " + std::to_string(text->size()) + " bytes"};
    }
    std::transform(text->begin(), text->end(), id.bytes.begin(),
                   [](char letter) { return static_cast<std::byte>(letter); });
  }
  return Communicator::join(id, meeting.size, meeting.rank, config);
}

namespace {

/// The key by which a rank says that it has reached a monitored barrier.
std::string key_of(const Meeting& meeting, int rank) {
  return meeting.key + "/" + std::to_string(rank);
}

/// The key by which a rank says that it has read the outcome of a monitored barrier.
std::string read_key_of(const Meeting& meeting, int rank) {
  return key_of(meeting, rank) + "/read";
}

/// Returns the meeting at another key, that ends at `end`.
Meeting meeting_at(const Meeting& meeting, std::string key, Time::time_point end) {
  Meeting one = meeting;
  one.key = std::move(key);
  one.limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(end - Time::now(), Time::duration::zero()));
  return one;
}

/// Waits until these ranks have read the outcome, at most `longest`: the store may end with the process of rank 0.
void wait_for_readers(const Meeting& meeting, const std::vector<int>& ranks,
                      std::chrono::milliseconds longest) {
  const Time::time_point end = Time::now() + longest;
  for (const int rank : ranks) {
    static_cast<void>(wait_for_key(meeting_at(meeting, read_key_of(meeting, rank), end)));
  }
}

bool rank_0_waits(const Meeting& meeting) {
  Meeting arrival = meeting;
  arrival.key = key_of(meeting, 0);
  arrival.limit = std::chrono::milliseconds(0);
  return static_cast<bool>(wait_for_key(arrival));
}

}  // namespace

Status monitored_barrier(const Meeting& meeting, bool names_all) {
  Meeting outcome = meeting;
  outcome.key = meeting.key + "/outcome";
  if (meeting.rank != 0) {
    const Status told = put(*meeting.store, key_of(meeting, meeting.rank), "here");
    if (!told) return told;
    Result<std::string> text = wait_for_key(outcome);
    if (!text && text.error().code == ErrorCode::Timeout && rank_0_waits(meeting)) {
      // Rank 0 came later, so its time ends later: it knows by then which ranks are missing.
      text = wait_for_key(outcome);
    }
    if (!text && text.error().code == ErrorCode::Timeout) {
      return Error{ErrorCode::Timeout,
                   "rank 0 did not reach the barrier within " + seconds(meeting.limit)};
    }
    if (!text) return text.error();
    static_cast<void>(put(*meeting.store, read_key_of(meeting, meeting.rank), "read"));
    return text->empty() ? Status() : Status(Error{ErrorCode::Timeout, *text});
  }
  const Time::time_point end = Time::now() + meeting.limit;
  const Status told_arrival = put(*meeting.store, key_of(meeting, 0), "here");
  if (!told_arrival) return told_arrival;
  std::string missing;
  std::vector<int> arrived;
  int count = 0;
  for (int rank = 1; rank < meeting.size && (names_all || count == 0); ++rank) {
    const Result<std::string> here = wait_for_key(meeting_at(meeting, key_of(meeting, rank), end));
    if (here) {
      arrived.push_back(rank);
      continue;
    }
    if (here.error().code != ErrorCode::Timeout) return here.error();
    missing += (count == 0 ? "" : ", ") + std::to_string(rank);
    ++count;
  }
  std::string why;
  if (count > 0) {
    why = (count == 1 ? "rank " : "ranks ") + missing + " did not reach the barrier within " +
          seconds(meeting.limit);
  }
  const Status told = put(*meeting.store, outcome.key, why);
  // Ranks that have arrived look for the outcome every 10 ms. One that died since delays a failed barrier little.
  constexpr std::chrono::milliseconds kPassed{10'000};
  constexpr std::chrono::milliseconds kFailed{1'000};
  if (told) wait_for_readers(meeting, arrived, why.empty() ? kPassed : kFailed);
  if (!why.empty()) return Error{ErrorCode::Timeout, why};
  return told;
}

}  // namespace ringside::pytorch
