#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "gui/model/document.h"

namespace ringside::gui {

/// Who makes what a view keeps.
enum class Making : std::uint8_t {
  Now,     ///< whoever asks: what is seen is whole
  Beside,  ///< a worker, while the window goes on
};

/// What a view makes of one call, or of something else in a document, and keeps: to go over all steps takes longer than
/// a frame may, and so does giving back what was made of them.
///
/// Threads    one asks; a worker makes, one thing at a time, of the document alone, which never changes
/// Ownership  a worker holds the document until it is done; the end of a Kept waits for it
template <typename Made, typename Key = const CallFacts*>
class Kept {
 public:
  using Make = Made (*)(const Document&, const Key&);

  Kept(Making making, Make make) : making_(making), make_(make) {}

  /// Of that and nothing else. Null: it is being made, ask again. Else valid until the next call.
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
      // What a thread was started with outlives its work; the document does not have to.
      const std::shared_ptr<const Document> held = std::move(of);
      return std::make_unique<One>(One{held, key, make(*held, key)});
    });
    // What is made within a frame is shown in it.
    constexpr std::chrono::milliseconds kPatience{2};
    worker_.wait_for(kPatience);
    take();
    return is_there(document, key) ? &kept_->made : nullptr;
  }

  /// Of a document that is shown no longer.
  void forget() {
    take();
    if (kept_ == nullptr) return;
    if (making_ == Making::Now) return kept_.reset();
    start([] { return std::unique_ptr<One>(); });
  }

 private:
  struct One {
    std::weak_ptr<const Document> document;  ///< another one may come to stand at its address
    Key key;
    Made made;
  };

  /// Beside whoever asks: gives back what was kept, then works.
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
  std::unique_ptr<One> kept_;  ///< null while a worker is at it
  std::future<std::unique_ptr<One>> worker_;
};

}  // namespace ringside::gui
