#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "gui/model/session/open.h"

namespace ringside::gui {

/// Opens one document at a time in another thread, while the window stays responsive.
class Loader {
 public:
  using Open = std::function<Opened(const OnProgress&, const OnPart&)>;

  ~Loader();

  /// Cancels the current loading and starts another one.
  void start(std::string what, Open open);

  [[nodiscard]] const std::string& what() const {
    return what_;
  }  ///< empty: nothing is being opened
  [[nodiscard]] double done() const { return done_; }

  /// Returns the first part of the document once, as soon as it is available; else null.
  std::shared_ptr<const Document> poll_part();
  /// Returns the opened document once; none before that.
  std::optional<Opened> poll();

 private:
  void end();
  std::string what_;
  std::atomic<double> done_{0};
  std::atomic<bool> is_unwanted_{false};
  std::mutex mutex_;
  std::shared_ptr<const Document> part_;  ///< under mutex_
  std::future<Opened> opened_;
};

}  // namespace ringside::gui
