#include "gui/window/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <vector>

#include "base/fd.h"
#include "base/write_file.h"
#include "gui/window/headless.h"

namespace ringside::gui {
namespace {

constexpr double kFramesASecond = 25;

/// Options of ffmpeg for a kind of film, its format first, since a draft's name does not show it. Colours at half the
/// resolution, which players expect, need even sizes.
struct Encoding {
  const char* ending;
  std::vector<std::string> options;
};

const std::vector<Encoding>& encodings() {
  static const std::vector<Encoding> all{
      {".webm",
       {"-f", "webm", "-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "34", "-row-mt", "1", "-deadline",
        "realtime", "-cpu-used", "6", "-pix_fmt", "yuv420p"}},
      {".mp4",
       {"-f", "mp4", "-c:v", "libx264", "-crf", "23", "-pix_fmt", "yuv420p", "-vf",
        "pad=ceil(iw/2)*2:ceil(ih/2)*2"}},
      {".gif",
       {"-f", "gif", "-vf",
        "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none"}}};
  return all;
}

/// ffmpeg, which reads pictures from a pipe.
class Encoder {
 public:
  /// path  where to write; the extension of recording.path gives the format
  static Result<Encoder> start(const Recording& recording, const std::string& path) {
    const auto found = std::ranges::find_if(
        encodings(), [&](const Encoding& one) { return recording.path.ends_with(one.ending); });
    if (found == encodings().end()) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: unknown kind of film", recording.path),
                   "give a name that ends with .webm, .mp4 or .gif"};
    }
    std::vector<std::string> words{"ffmpeg",
                                   "-y",
                                   "-nostdin",
                                   "-loglevel",
                                   "error",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgb24",
                                   "-s",
                                   fmt::format("{}x{}", recording.width, recording.height),
                                   "-r",
                                   fmt::format("{}", kFramesASecond),
                                   "-i",
                                   "pipe:0"};
    words.insert(words.end(), found->options.begin(), found->options.end());
    // A path that begins with a dash must not be taken for an option.
    words.push_back(path.starts_with('-') ? "./" + path : path);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("pipe", errno, "");
    Encoder encoder;
    const UniqueFd out(ends[0]);
    encoder.in_ = UniqueFd(ends[1]);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out.get(), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const int failed =
        ::posix_spawnp(&encoder.child_, "ffmpeg", &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) {
      encoder.child_ = -1;
      return Error{ErrorCode::Unsupported, "no ffmpeg, which encodes films",
                   "apt-get install ffmpeg; or a page that plays: ringside trace export --html"};
    }
    return encoder;
  }

  Encoder(Encoder&& other) noexcept
      : in_(std::move(other.in_)), child_(std::exchange(other.child_, -1)) {}
  Encoder& operator=(Encoder&&) = delete;
  ~Encoder() {
    if (child_ > 0) static_cast<void>(wait());
  }

  /// returns  whether ffmpeg still reads
  bool take(std::span<const unsigned char> pixels) {
    return write_all(in_.get(), std::as_bytes(pixels)).has_value();
  }

  /// returns  its exit status
  int wait() {
    in_.reset();
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  Encoder() = default;
  UniqueFd in_;
  pid_t child_ = -1;
};

}  // namespace

Status write_recording(const Recording& recording, const std::function<void(double share)>& draw) {
  RINGSIDE_TRY(const auto headless,
               Headless::make(recording.width, recording.height, recording.scale));
  ::signal(SIGPIPE, SIG_IGN);  // its exit status shows an encoder that gave up
  NewFile fresh(recording.path);
  RINGSIDE_TRY(Encoder encoder, Encoder::start(recording, fresh.draft()));
  for (int i = 0; i < kSettlingFrames; ++i) headless->frame([&] { draw(0); });
  const int frames = std::max(2, static_cast<int>(std::lround(recording.seconds * kFramesASecond)));
  bool listens = true;
  for (int i = 0; i < frames && listens; ++i) {
    const double share = static_cast<double>(i) / (frames - 1);
    listens = encoder.take(headless->frame([&] { draw(share); }));
  }
  if (encoder.wait() == 0 && listens) return fresh.keep();
  return Error{ErrorCode::System, fmt::format("{}: ffmpeg gave up", recording.path),
               "its output above shows why"};
}

}  // namespace ringside::gui
