/** The maximum number of files that a process reads at once to check or to submit them. */
const READERS_MAX = 4
/** The maximum number of files of one user that a process reads at once. */
const READERS_OF_USER_MAX = 2
/** The maximum number of users without a reader who wait for one. */
const WAITING_MAX = 64
const WAIT_MS = 30_000
/**
 * The time for which a further request waits for a reader. A request is a further one if another
 * request of the user has a reader or already waits. Most files are read within milliseconds, so a
 * script that uploads many files at once needs no retries.
 */
const FURTHER_WAIT_MS = 3_000
/** The maximum numbers of further requests that wait: in total, and of one user. */
const FURTHER_MAX = { total: 256, ofUser: 64 }

type Waiter = { readonly userId: number; readonly grant: () => void }

/**
 * Shares the readers of files among users. Reading a long file takes minutes, and a few users must
 * not keep all others waiting for so long. A user therefore gets a second reader only if another
 * one stays free, so two users never occupy all readers. If all readers are taken, a user who has
 * none waits. Further requests of a user wait only briefly, and never get a reader before a user
 * who has none.
 */
export class FileReaders {
  private readonly waitMs: number
  private readonly furtherWaitMs: number
  private total = 0
  private readonly ofUser = new Map<number, number>()
  /**
   * The users who wait, in order of arrival, each with the function that ends the wait. None of
   * them has a reader, and no reader is free.
   */
  private readonly waiting = new Map<number, () => void>()
  /** The further requests of users, in order of arrival. */
  private readonly further = new Set<Waiter>()

  constructor(waitMs: number = WAIT_MS, furtherWaitMs: number = FURTHER_WAIT_MS) {
    this.waitMs = waitMs
    this.furtherWaitMs = furtherWaitMs
  }

  /**
   * Acquires a reader, and returns the function that releases it, which must be called once.
   * Returns null if too many requests wait, if no reader became free in time, or if `signal` was
   * aborted.
   */
  async acquire(userId: number, signal?: AbortSignal): Promise<(() => void) | null> {
    if (signal?.aborted === true) return null
    if (this.mayTake(userId)) this.take(userId)
    else if (!(await this.wait(userId, signal))) return null
    return () => this.release(userId)
  }

  private mayTake(userId: number): boolean {
    const own = this.ofUser.get(userId) ?? 0
    const free = READERS_MAX - this.total
    return own === 0 ? free > 0 : own < READERS_OF_USER_MAX && free >= 2
  }

  private take(userId: number): void {
    this.total += 1
    this.ofUser.set(userId, (this.ofUser.get(userId) ?? 0) + 1)
  }

  private release(userId: number): void {
    this.total -= 1
    const left = (this.ofUser.get(userId) ?? 1) - 1
    if (left > 0) this.ofUser.set(userId, left)
    else this.ofUser.delete(userId)
    const [first] = this.waiting
    if (first !== undefined) {
      const [next, grant] = first
      this.take(next)
      grant()
    }
    for (const waiter of this.further) {
      if (this.total >= READERS_MAX) return
      if (!this.mayTake(waiter.userId)) continue
      this.take(waiter.userId)
      waiter.grant()
    }
  }

  /** Waits until `release` gives a reader to the user. Returns false if none is given in time. */
  private wait(userId: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { waiting, further } = this
    // Only one request of a user waits for long, so that many requests of one user delay no other
    // user.
    if (!this.ofUser.has(userId) && !waiting.has(userId)) {
      if (waiting.size >= WAITING_MAX) return Promise.resolve(false)
      return this.waitInQueue(this.waitMs, signal, (grant) => {
        waiting.set(userId, grant)
        return () => waiting.delete(userId)
      })
    }
    const own = [...further].filter((waiter) => waiter.userId === userId).length
    if (further.size >= FURTHER_MAX.total || own >= FURTHER_MAX.ofUser) {
      return Promise.resolve(false)
    }
    return this.waitInQueue(this.furtherWaitMs, signal, (grant) => {
      const waiter = { userId, grant }
      further.add(waiter)
      return () => further.delete(waiter)
    })
  }

  /**
   * Waits in a queue. `enter` adds a request to the queue and returns the function that removes it.
   */
  private waitInQueue(
    waitMs: number,
    signal: AbortSignal | undefined,
    enter: (grant: () => void) => () => void,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        leave()
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        resolve(isGranted)
      }
      const giveUp = (): void => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal?.addEventListener('abort', giveUp)
      const leave = enter(() => end(true))
    })
  }
}
