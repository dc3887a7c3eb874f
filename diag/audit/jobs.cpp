#include <algorithm>
#include <map>
#include <numeric>

#include "diag/audit/join.h"

namespace ringside::audit {
namespace {

/// Disjoint sets of files.
class FileSets {
 public:
  std::uint32_t root_of(std::uint32_t file) {
    while (parent_.size() <= file) parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    while (parent_[file] != file) file = parent_[file] = parent_[parent_[file]];
    return file;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = root_of(a), second = root_of(b);
    parent_[second] = first;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

bool is_whole(const CommFacts& comm) {
  constexpr std::int32_t kJob = 2;  // a communicator of one rank is no evidence of a job
  return comm.nranks >= kJob && !comm.is_guessed &&
         static_cast<std::int32_t>(comm.members.size()) == comm.nranks;
}

}  // namespace

std::vector<JobOfFiles> separate_jobs(const JobFacts& facts) {
  FileSets sets;
  std::map<std::uint32_t, const CommFacts*> largest;  // [file]
  for (const CommFacts& comm : facts.comms) {
    for (const Member& member : comm.members) {
      const std::uint32_t file = facts.where(member.first).file;
      if (!comm.is_guessed) sets.join(facts.where(comm.members.front().first).file, file);
      const CommFacts*& known = largest[file];
      if (known == nullptr || comm.nranks > known->nranks) known = &comm;
    }
  }
  std::map<std::uint32_t, JobOfFiles> jobs;
  for (const auto& [file, comm] : largest) {
    JobOfFiles& job = jobs[sets.root_of(file)];
    job.files.push_back(file);
    job.nranks = std::max(job.nranks, is_whole(*comm) ? comm->nranks : -1);
  }
  std::vector<JobOfFiles> whole;
  for (auto& [root, job] : jobs) {
    if (job.nranks > 0) whole.push_back(std::move(job));
  }
  std::ranges::sort(whole, {}, [](const JobOfFiles& job) { return job.files.front(); });
  return whole;
}

}  // namespace ringside::audit
