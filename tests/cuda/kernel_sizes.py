#!/usr/bin/env python3
"""Compiles the kernels for sm_90 and prints what each takes: registers, frame, spills, shared memory. No GPU is needed; 30 s of CPU.

    kernel_sizes.py SOURCE_DIR [NVCC [CXX]]

exit status 1: a thread's frame is larger than it has to be, or a step divides
CUDA reserves a frame for each thread that the GPU can hold: 270 336 of them on an H100.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_FRAME = 512
MOST_SHARED = 48 << 10  # without an opt-in
THREADS_OF_H100 = 132 * 2048

FUNCTION = re.compile(r"Compiling entry function '(\w+)'|Function properties for (\w+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
# A step: CudaPrimitives<..>::run().
STEP = re.compile(r"CudaPrimitivesILb[01]E.*3runE")


def short(symbol):
    """As a person would call it: run_collective<1>, CudaPrimitives<false>::run."""
    name = subprocess.run(["c++filt", symbol], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    name = name.replace("ringside::", "").replace("(anonymous namespace)::", "").replace("(Collective)", "").replace(", GpuMachine", "")
    return re.sub(r"^void |\(.*", "", name)


def compile_kernels(source_dir, nvcc, cxx, folder):
    """returns  what ptxas says, and the PTX"""
    done = subprocess.run(
        [nvcc, "-std=c++20", "-O3", "--fmad=false", "-arch=sm_90", "-allow-unsupported-compiler", "-ccbin", cxx, "-I", source_dir,
         "-Xptxas", "-v", "--keep", "--keep-dir", folder, "-cubin", "-o", f"{folder}/kernels.cubin",
         f"{source_dir}/engine/cuda/gpu/kernels.cu"], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stderr, next(Path(folder).glob("*.ptx")).read_text()


def remainders_of_steps(ptx):
    """returns  lines of PTX"""
    found, is_step = [], False
    for line in ptx.splitlines():
        if re.match(r"\s*(\.\w+ )*\.(func|entry) ", line):
            is_step = bool(STEP.search(line))
        elif is_step and re.search(r"\brem\.", line):
            found.append(line.strip())
    return found


def main():
    source_dir = sys.argv[1]
    nvcc = sys.argv[2] if len(sys.argv) > 2 else "nvcc"
    cxx = sys.argv[3] if len(sys.argv) > 3 else "c++"
    with tempfile.TemporaryDirectory() as folder:
        log, ptx = compile_kernels(source_dir, nvcc, cxx, folder)
    wrong, name, count = [], None, 0
    print(f"{'function':46} {'registers':>9} {'frame':>6} {'spill stores, loads':>20} {'shared':>7}")
    frame = None
    for line in log.splitlines():
        if found := FUNCTION.search(line):
            name = short(found[1] or found[2])
        elif found := FRAME.search(line):
            frame = [int(number) for number in found.groups()]
            count += 1
            if "Primitives" in name or "pack" in name:
                print(f"{name:46} {'':9} {frame[0]:6} {frame[1]:12}, {frame[2]:6}")
        elif found := USED.search(line):
            shared = int((SHARED.search(line) or [0, 0])[1])
            print(f"{name:46} {found[1]:>9} {frame[0]:6} {frame[1]:12}, {frame[2]:6} {shared:7}")
            if frame[0] > MOST_FRAME:
                wrong.append(f"{name}: a frame of {frame[0]} bytes, {frame[0] * THREADS_OF_H100 / 1e6:.0f} MB on an H100; at most {MOST_FRAME}")
            if shared > MOST_SHARED:
                wrong.append(f"{name}: {shared} bytes of shared memory; at most {MOST_SHARED}")
    if count == 0:
        wrong.append("ptxas names no function")
    wrong += [f"a step divides: {line}" for line in remainders_of_steps(ptx)[:5]]
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
