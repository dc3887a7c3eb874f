"""Builds the backend against the installed PyTorch and the installed libringside.so, which pkg-config finds.

RINGSIDE_PREFIX names the prefix of an installation that pkg-config does not know; RINGSIDE_BUILD a build folder of this
tree, which is used as it is.
"""

import os
import subprocess
import sys
from glob import glob
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

HERE = Path(__file__).resolve().parent


def pkg_config(*options):
    environment = dict(os.environ)
    prefix = environment.get("RINGSIDE_PREFIX")
    if prefix:
        found = [str(path.parent) for path in Path(prefix).glob("**/pkgconfig/ringside.pc")]
        if not found:
            sys.exit(
                f"setup.py: RINGSIDE_PREFIX={prefix}: no ringside.pc below it\n"
                f"  run `cmake --install build/dev --prefix {prefix}` first"
            )
        environment["PKG_CONFIG_PATH"] = os.pathsep.join([*found, environment.get("PKG_CONFIG_PATH", "")])
    try:
        return subprocess.run(
            ["pkg-config", *options, "ringside"], env=environment, check=True, capture_output=True, text=True
        ).stdout.split()
    except FileNotFoundError:
        sys.exit("setup.py: no pkg-config; install the package pkg-config")
    except subprocess.CalledProcessError as failed:
        sys.exit(
            f"setup.py: pkg-config knows no ringside: {failed.stderr.strip()}\n"
            "  install it (`cmake --install build/dev --prefix PREFIX`) and set RINGSIDE_PREFIX=PREFIX"
        )


def ringside():
    """The version, and what the compiler and the linker need."""
    build = os.environ.get("RINGSIDE_BUILD")
    if build:
        version = os.environ.get("RINGSIDE_VERSION", "0")
        return version, [f"-I{HERE.parent / 'include'}"], [f"-L{build}/api", "-lringside"], [f"{build}/api"]
    return pkg_config("--modversion")[0], pkg_config("--cflags"), pkg_config("--libs"), pkg_config("--variable=libdir")


version, compiler, linker, folders = ringside()
setup(
    version=version,
    ext_modules=[
        CppExtension(
            "ringside.torch._backend",
            sorted(glob("src/*.cpp", root_dir=HERE)),
            depends=[*map(str, HERE.glob("src/*.h")), *map(str, HERE.parent.glob("include/ringside/*.h"))],
            include_dirs=[str(HERE.parent)],  # sources include each other from the root of the tree
            extra_compile_args=["-std=c++20", "-O2", "-g0", "-fvisibility=hidden", "-Wno-deprecated-declarations", *compiler],
            extra_link_args=[*linker, *(f"-Wl,-rpath,{folder}" for folder in folders)],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
