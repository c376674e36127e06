/** The maximum number of files that a process reads at once to check or to submit them. */
const READERS_MAX = 4
/** The maximum number of files of one user that a process reads at once. */
const READERS_OF_USER_MAX = 2
/** The maximum number of users who wait for a reader. */
const WAITING_MAX = 64
const WAIT_MS = 30_000

/**
 * Shares the readers of files among users. Reading a long file takes minutes, and a few users must
 * not keep all others waiting for so long. A user therefore gets a second reader only if another
 * one stays free, so two users never occupy all readers. If all readers are taken, a user who has
 * none waits.
 */
export class FileReaders {
  private readonly waitMs: number
  private total = 0
  private readonly ofUser = new Map<number, number>()
  /** The users who wait, in order of arrival. None of them has a reader, and no reader is free. */
  private readonly waiting = new Map<number, () => void>()

  constructor(waitMs: number = WAIT_MS) {
    this.waitMs = waitMs
  }

  /**
   * Acquires a reader, and returns the function that releases it, which must be called once.
   * Returns null if the user's other readers leave too few for the other users, if too many users
   * wait, or if no reader became free in time.
   */
  async acquire(userId: number): Promise<(() => void) | null> {
    const own = this.ofUser.get(userId) ?? 0
    const free = READERS_MAX - this.total
    if (own > 0 && (own >= READERS_OF_USER_MAX || free < 2)) return null
    if (free > 0) this.take(userId)
    else if (!(await this.wait(userId))) return null
    return () => this.release(userId)
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
    if (first === undefined) return
    const [next, grant] = first
    this.take(next)
    grant()
  }

  /** Waits until `release` gives a reader to the user. Returns false if none is given in time. */
  private wait(userId: number): Promise<boolean> {
    const { waiting } = this
    // A user's requests wait one at a time, so that many requests of one user delay no other user.
    if (waiting.has(userId) || waiting.size >= WAITING_MAX) return Promise.resolve(false)
    return new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        waiting.delete(userId)
        clearTimeout(timer)
        resolve(isGranted)
      }
      const timer = setTimeout(() => end(false), this.waitMs)
      waiting.set(userId, () => end(true))
    })
  }
}
