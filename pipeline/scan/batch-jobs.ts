// Payloads of batch jobs: splits ids into jobs of limited size.

// Each job costs some forty statements; a crash only repeats the part that was not stored.
const maxIdsPerJob = 512
const minIdsPerJob = 64
const minJobs = 8

type BatchJob = { scanId: string; libraryId: string; ids: string[] }

/** Jobs that each use all threads. */
export function batchJobs(
  { scanId, libraryId }: { scanId: string; libraryId: string },
  ids: string[],
  size = maxIdsPerJob,
): BatchJob[] {
  const jobs: BatchJob[] = []
  for (let i = 0; i < ids.length; i += size)
    jobs.push({ scanId, libraryId, ids: ids.slice(i, i + size) })
  return jobs
}

/** Jobs that each use one thread: a small library is spread over enough of them to occupy all threads. */
export function singleThreadJobs(scan: { scanId: string; libraryId: string }, ids: string[]) {
  const size = Math.max(minIdsPerJob, Math.ceil(ids.length / minJobs))
  return batchJobs(scan, ids, Math.min(maxIdsPerJob, size))
}
