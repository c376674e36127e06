/** A waiting counting job of one user. `bytes` is the size of the job's texts in memory. */
type Queued = { readonly userId: number; readonly bytes: number }

/** The limits of the queue, in total and for each user. */
export type QueueBounds = {
  readonly bytesMax: number
  readonly lengthMax: number
  readonly userBytesMax: number
  readonly userLengthMax: number
}

type Lane<Job> = { jobs: Job[]; bytes: number }

/**
 * Queues the counting jobs of all users. Users are served in rotation, so that a user with many
 * jobs does not delay other users. Bytes and jobs are limited per user and in total.
 */
export class CountQueue<Job extends Queued> {
  bytes = 0
  length = 0
  /** The waiting jobs of each user, by user id. The first user in the map is served next. */
  private readonly lanes = new Map<number, Lane<Job>>()
  private readonly bounds: QueueBounds

  constructor(bounds: QueueBounds) {
    this.bounds = bounds
  }

  /**
   * Adds a job. Returns the jobs that are rejected because a limit is exceeded. If a limit of the
   * user is exceeded, the new job is rejected. If a limit for all users is exceeded, the latest
   * jobs of the user with the most bytes or jobs are rejected one by one, until the limit is met.
   */
  add(job: Job): readonly Job[] {
    const { userBytesMax, userLengthMax, bytesMax, lengthMax } = this.bounds
    const lane = this.lanes.get(job.userId) ?? { jobs: [], bytes: 0 }
    const isLaneFull = lane.jobs.length >= userLengthMax || lane.bytes + job.bytes > userBytesMax
    if (isLaneFull) return [job]
    this.lanes.set(job.userId, lane)
    lane.jobs.push(job)
    lane.bytes += job.bytes
    this.bytes += job.bytes
    this.length += 1
    const evicted: Job[] = []
    while (this.bytes > bytesMax) evicted.push(this.evict((one) => one.bytes))
    while (this.length > lengthMax) evicted.push(this.evict((one) => one.jobs.length))
    return evicted
  }

  /**
   * Returns the first job of the user who is served next, or null if the queue is empty. The job
   * stays in the queue until it is removed.
   */
  next(): Job | null {
    for (const [userId, lane] of this.lanes) {
      this.lanes.delete(userId)
      this.lanes.set(userId, lane)
      return lane.jobs[0] ?? null
    }
    return null
  }

  remove(job: Job): void {
    const lane = this.lanes.get(job.userId)
    const at = lane?.jobs.indexOf(job) ?? -1
    if (lane === undefined || at < 0) return
    lane.jobs.splice(at, 1)
    lane.bytes -= job.bytes
    this.bytes -= job.bytes
    this.length -= 1
    if (lane.jobs.length === 0) this.lanes.delete(job.userId)
  }

  all(): readonly Job[] {
    return [...this.lanes.values()].flatMap(({ jobs }) => jobs)
  }

  private evict(sizeOf: (lane: Lane<Job>) => number): Job {
    let most: Lane<Job> | null = null
    for (const lane of this.lanes.values()) {
      if (most === null || sizeOf(lane) > sizeOf(most)) most = lane
    }
    const last = most?.jobs.at(-1)
    if (last === undefined) throw new Error('an empty queue exceeds its bounds')
    this.remove(last)
    return last
  }
}
