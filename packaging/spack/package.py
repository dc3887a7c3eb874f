# Copyright The ringside maintainers. SPDX-License-Identifier: Apache-2.0
"""Recipe for Spack: put this folder into a repository of yours, as packages/ringside, and give it the address of a release."""

from spack.package import *


class Ringside(CMakePackage):
    """Diagnostics, simulation and testing for the GPU communication stack: NCCL, RCCL and PyTorch distributed."""

    license("Apache-2.0")

    # No release has an address yet: `spack develop ringside@main` builds a clone.
    version("main", branch="main")

    variant("gui", default=False, description="Build the replay window")
    variant("cuda", default=False, description="Build the kernels of bench --device cuda")
    variant("pmix", default=True, description="Find the other ranks under srun --mpi=pmix")
    variant("rdma", default=True, description="Build the transport rdma")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:", type="build")
    depends_on("fast-cpp-csv-parser", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("yaml-cpp@0.7:")
    depends_on("pugixml@1.13:")
    depends_on("hwloc@2.9:")
    depends_on("highway@1.0.3:")
    depends_on("libsodium@1.0.18:")
    depends_on("flatbuffers@2:")
    depends_on("protobuf@3.12:")
    depends_on("sqlite@3.40:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("zstd@1.4:")
    depends_on("simgrid@3.32:")
    depends_on("boost")
    depends_on("pmix", when="+pmix")
    depends_on("rdma-core", when="+rdma")
    depends_on("cuda@12:", when="+cuda")
    depends_on("imgui@1.86:", when="+gui")
    depends_on("glfw@3.3:", when="+gui")
    depends_on("freetype", when="+gui")
    depends_on("gl", when="+gui")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("RINGSIDE_BUILD_TESTS", self.run_tests),
            self.define("RINGSIDE_BATCH", 10),
            self.define_from_variant("RINGSIDE_CUDA", "cuda"),
            self.define_from_variant("RINGSIDE_PMIX", "pmix"),
        ]
