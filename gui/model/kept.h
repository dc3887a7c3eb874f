#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "gui/model/document.h"

namespace ringside::gui {

/// The thread that computes a view's data.
enum class Making : std::uint8_t {
  Now,       ///< the calling thread: the view is complete
  InWorker,  ///< a worker thread, while the window stays responsive
};

/// A cache of data that a view computes for one key (such as a call) of a document. Computing and
/// freeing the data may take longer than a frame.
///
/// Threads    one thread calls of() and forget(); one worker at a time computes, and reads only the
///            immutable document
/// Ownership  a worker holds the document until it is done; the destructor waits for the worker
template <typename Made, typename Key = const CallFacts*>
class Kept {
 public:
  using Make = Made (*)(const Document&, const Key&);

  Kept(Making making, Make make) : making_(making), make_(make) {}

  /// Returns the data of that key, valid until the next call. Null: a worker computes it, ask
  /// again.
  Made* of(const std::shared_ptr<const Document>& document, const Key& key) {
    if (is_there(document, key)) return &kept_->made;
    if (making_ == Making::Now) {
      kept_ = std::make_unique<One>(One{document, key, make_(*document, key)});
      return &kept_->made;
    }
    take();
    if (is_there(document, key)) return &kept_->made;
    if (worker_.valid()) return nullptr;
    start([make = make_, of = std::shared_ptr(document), key]() mutable {
      // A thread's argument outlives its work; the document must not.
      const std::shared_ptr<const Document> held = std::move(of);
      return std::make_unique<One>(One{held, key, make(*held, key)});
    });
    // A result within this time is shown in the same frame.
    constexpr std::chrono::milliseconds kPatience{2};
    worker_.wait_for(kPatience);
    take();
    return is_there(document, key) ? &kept_->made : nullptr;
  }

  /// Drops the data of a document that is no longer shown.
  void forget() {
    take();
    if (kept_ == nullptr) return;
    if (making_ == Making::Now) return kept_.reset();
    start([] { return std::unique_ptr<One>(); });
  }

 private:
  struct One {
    std::weak_ptr<const Document> document;  ///< another one may be allocated at its address
    Key key;
    Made made;
  };

  /// Frees the kept data, then works, in another thread than the caller's.
  template <typename Work>
  void start(Work work) {
    worker_ = std::async(std::launch::async,
                         [work = std::move(work), before = std::move(kept_)]() mutable {
                           before.reset();
                           return work();
                         });
  }

  void take() {
    if (worker_.valid() && worker_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      kept_ = worker_.get();
  }

  [[nodiscard]] bool is_there(const std::shared_ptr<const Document>& document,
                              const Key& key) const {
    return kept_ != nullptr && kept_->key == key && kept_->document.lock() == document;
  }

  Making making_;
  Make make_;
  std::unique_ptr<One> kept_;  ///< null while a worker computes
  std::future<std::unique_ptr<One>> worker_;
};

}  // namespace ringside::gui
