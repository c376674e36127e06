/**
 * What appends to several streams need beside EventStoreDB, which knows no transaction over
 * streams: exclusion among all processes, the place up to which the healer has looked, and a clock.
 */
export type Locks = {
  /**
   * Runs `work` while nobody else works with any of `names`. Throws `LockTimeout`, before anything
   * happened, when that took longer than `withinMs`.
   */
  together<T>(names: readonly string[], withinMs: number, work: () => Promise<T>): Promise<T>
  /** Runs `work` unless somebody else works under this name; answers whether it did. */
  alone(name: string, work: () => Promise<void>): Promise<boolean>
  /** Global position; 0 at first. */
  healedUpTo(): Promise<number>
  setHealedUpTo(position: number): Promise<void>
  /** Unix milliseconds, by the clock that all processes share. */
  now(): Promise<number>
  close(): Promise<void>
}

export class LockTimeout extends Error {
  constructor(names: readonly string[], cause: unknown) {
    super(`the streams ${names.join(', ')} could not be locked in time`, { cause })
    this.name = 'LockTimeout'
  }
}
