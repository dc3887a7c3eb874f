#include "ringside/trace_writer.h"

#include <fmt/format.h>

#include <utility>

#include "base/result.h"
#include "trace/file_sink.h"

namespace ringside {

struct TraceWriter::Impl {
  std::string path;
  std::unique_ptr<TraceRecorder> recorder;
  TraceLane* lane = nullptr;
};

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::string& path, TraceInfo info) {
  RINGSIDE_TRY(auto recorder, record_to_file(path, std::move(info)));
  TraceLane* const lane = recorder->add_lane();
  return TraceWriter(std::make_unique<Impl>(Impl{path, std::move(recorder), lane}));
}

void TraceWriter::write(const TraceEvent& event) { impl_->lane->record(event); }

Status TraceWriter::flush() {
  impl_->recorder->flush();
  const std::uint64_t lost = impl_->recorder->stats().dropped;
  if (lost == 0) return {};
  return Error{ErrorCode::System,
               fmt::format("{}: {} events could not be written", impl_->path, lost),
               "make room on the disk, then write the trace again"};
}

}  // namespace ringside
