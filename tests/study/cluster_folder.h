#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ringside {

/// A folder for the cluster files of one test, removed with the object.
class ClusterFolder {
 public:
  ClusterFolder()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("clusters_") +
                 testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~ClusterFolder() { std::filesystem::remove_all(folder_); }
  ClusterFolder(const ClusterFolder&) = delete;
  ClusterFolder& operator=(const ClusterFolder&) = delete;

  /// Writes a cluster/1 file with these nodes and this fabric, and returns its path.
  [[nodiscard]] std::string write(const std::string& nodes, const std::string& fabric,
                                  const std::string& more = "") const {
    static int count = 0;
    const std::filesystem::path path = folder_ / ("cluster" + std::to_string(++count) + ".yaml");
    std::ofstream(path) << "ringside: cluster/1\nname: test\nnodes: [" << nodes
                        << "]\nfabric: " << fabric << "\n"
                        << more << "\n";
    return path.string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace ringside
