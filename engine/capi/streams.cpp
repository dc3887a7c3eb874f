#include "engine/capi/streams.h"

#include <memory>

#include "engine/capi/gpus.h"

namespace ringside {
namespace {

HostStream& queue_of(rsStream_t stream) {
  static HostStream shared;
  return stream == nullptr ? shared : stream->queue;
}

}  // namespace

CallStream call_stream_of(const rsComm& comm, rsStream_t stream) {
  if (stream != nullptr && stream->device) return *stream->device;
  if (stream == nullptr && comm.is_on_gpu) return DeviceStream{};
  return &queue_of(stream);
}

}  // namespace ringside

using namespace ringside;

rsResult_t rsStreamCreate(rsStream_t* stream) {
  return guarded([&]() -> Status {
    if (stream == nullptr) {
      return Error{ErrorCode::InvalidArgument, "stream is null",
                   "pass the address of a rsStream_t"};
    }
    *stream = std::make_unique<rsStream>().release();
    return {};
  });
}
rsResult_t rsStreamWrapCuda(rsStream_t* stream, void* cudaStream) {
  return guarded([&]() -> Status {
    if (stream == nullptr) {
      return Error{ErrorCode::InvalidArgument, "stream is null",
                   "pass the address of a rsStream_t"};
    }
    *stream = std::make_unique<rsStream>().release();
    (*stream)->device = DeviceStream{cudaStream};
    return {};
  });
}
rsResult_t rsStreamSynchronize(rsStream_t stream) {
  return guarded([&]() -> Status {
    if (stream != nullptr && stream->device) {
      return gpus_of_process().synchronize(*stream->device);
    }
    queue_of(stream).synchronize();
    return {};
  });
}
rsResult_t rsStreamQuery(rsStream_t stream) {
  if (stream != nullptr && stream->device) {
    bool is_done = false;
    const rsResult_t asked = guarded([&]() -> Status {
      RINGSIDE_TRY(is_done, gpus_of_process().is_done(*stream->device));
      return {};
    });
    return asked != rsSuccess || is_done ? asked : rsInProgress;
  }
  return queue_of(stream).is_idle() ? rsSuccess : rsInProgress;
}
rsResult_t rsStreamDestroy(rsStream_t stream) {
  return guarded([&]() -> Status {
    const std::unique_ptr<rsStream> mine(stream);
    return {};
  });
}
