// Payloads of batch jobs: splits ids into jobs of limited size.

// Each job costs some forty statements; a crash repeats only what was not stored of it. A small library is
// spread over enough jobs that all threads take part.
const maxIdsPerJob = 256
const minIdsPerJob = 64
const minJobs = 8

export function batchJobs(
  { scanId, libraryId }: { scanId: string; libraryId: string },
  ids: string[],
): { scanId: string; libraryId: string; ids: string[] }[] {
  const jobs: { scanId: string; libraryId: string; ids: string[] }[] = []
  const size = Math.min(maxIdsPerJob, Math.max(minIdsPerJob, Math.ceil(ids.length / minJobs)))
  for (let i = 0; i < ids.length; i += size)
    jobs.push({ scanId, libraryId, ids: ids.slice(i, i + size) })
  return jobs
}
