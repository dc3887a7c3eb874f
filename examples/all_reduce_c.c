/* Two ranks, a process each, add up their data. */
#include <ringside/ringside.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int ends[2];
  rsUniqueId id;
  rsComm_t comm;
  if (pipe(ends) != 0) return 3;
  const int rank = fork() == 0 ? 1 : 0;
  if (rank == 0 && (rsGetUniqueId(&id) != rsSuccess || write(ends[1], &id, sizeof id) < 0))
    return 3;
  if (rank == 1 && read(ends[0], &id, sizeof id) != sizeof id) return 3;
  if (rsCommInitRank(&comm, 2, id, rank) != rsSuccess) return puts(rsGetLastError(NULL)), 3;
  float data[2] = {1.0F + (float)rank, 10.0F};
  rsAllReduce(data, data, 2, rsFloat32, rsSum, comm, NULL);
  rsStreamSynchronize(NULL);
  printf("rank %d: %g %g\n", rank, data[0], data[1]);
  rsCommFinalize(comm);
  return rsCommDestroy(comm);
}
