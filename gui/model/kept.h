#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "gui/model/document.h"

namespace ringside::gui {

/// Who makes what a view keeps.
enum class Making : std::uint8_t {
  Now,     ///< whoever asks: what is seen is whole
  Beside,  ///< a worker, while the window goes on
};

/// What a view makes once a call and keeps: going over all of its steps takes longer than a frame may.
///
/// Threads    one asks; a worker makes, one call at a time, of the document alone, which never changes
/// Ownership  a worker holds the document until it is done; the end of a Kept waits for it
template <typename Made>
class Kept {
 public:
  /// Of a call of that document.
  using Make = Made (*)(const Document&, const CallFacts&);

  Kept(Making making, Make make) : making_(making), make_(make) {}

  /// Null: it is being made, ask again. Else valid until the next call.
  Made* of(const std::shared_ptr<const Document>& document, const CallFacts& call) {
    if (is_there(document, call)) return &kept_->made;
    if (making_ == Making::Now) {
      kept_ = {document, &call, make_(*document, call)};
      return &kept_->made;
    }
    take();
    if (!is_there(document, call) && !worker_.valid()) {
      worker_ = std::async(std::launch::async, run, make_, document, &call);
      // What is made within a frame is shown in it.
      constexpr std::chrono::milliseconds kPatience{2};
      if (worker_.wait_for(kPatience) == std::future_status::ready) take();
    }
    return is_there(document, call) ? &kept_->made : nullptr;
  }

  /// Of a document that is shown no longer. Does not wait for a worker.
  void forget() { kept_.reset(); }

 private:
  struct One {
    std::weak_ptr<const Document> document;  ///< another one may come to stand at its address
    const CallFacts* call = nullptr;
    Made made;
  };

  static One run(Make make, std::shared_ptr<const Document> document, const CallFacts* call) {
    // What is handed to a thread outlives its work; the document does not have to.
    const std::shared_ptr<const Document> held = std::move(document);
    return {held, call, make(*held, *call)};
  }

  void take() {
    if (worker_.valid() && worker_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      kept_ = worker_.get();
  }

  [[nodiscard]] bool is_there(const std::shared_ptr<const Document>& document,
                              const CallFacts& call) const {
    return kept_ && kept_->call == &call && kept_->document.lock() == document;
  }

  Making making_;
  Make make_;
  std::optional<One> kept_;
  std::future<One> worker_;
};

}  // namespace ringside::gui
