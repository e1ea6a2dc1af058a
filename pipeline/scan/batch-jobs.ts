// Payloads of batch jobs: splits ids into jobs of limited size.

/** Enough that the queue costs nothing, few enough that a crash loses only seconds of work. */
const maxIdsPerJob = 64

export function batchJobs(
  { scanId, libraryId }: { scanId: string; libraryId: string },
  ids: string[],
): { scanId: string; libraryId: string; ids: string[] }[] {
  const jobs: { scanId: string; libraryId: string; ids: string[] }[] = []
  for (let i = 0; i < ids.length; i += maxIdsPerJob)
    jobs.push({ scanId, libraryId, ids: ids.slice(i, i + maxIdsPerJob) })
  return jobs
}
