/**
 * The limits of `Permits`, as numbers of pieces of work. `total` limits running work. `waiting` and
 * `waitingPerName` limit the work that waits for a permit, in total and under one name.
 */
export type PermitLimits = {
  readonly total: number
  readonly waiting: number
  readonly waitingPerName: number
  /** The maximum time in milliseconds to wait for a permit. Null sets no limit. */
  readonly waitMs: number | null
  /**
   * True if names take turns. After work under a name has started, the other work that waits under
   * this name moves to the end of the queue. The first work that waits under a name is then
   * accepted even if `waiting` is reached, so that a few names can't occupy the queue. False by
   * default.
   */
  readonly isRoundRobin?: boolean
}

/**
 * A name under which work is counted. At most `max` pieces of work under the same name run at once.
 */
export type PermitName = { readonly name: string; readonly max: number }

type Waiter = {
  readonly names: readonly PermitName[]
  readonly answer: (isGranted: boolean) => void
}

/**
 * Limits concurrent work in this process, in total and per name. A name identifies, for example, a
 * channel or a user. Waiting work starts in the order of arrival or, with `isRoundRobin`, in turns
 * of the names. Work under a name that has reached its limit waits longer.
 */
export class Permits {
  private readonly max: PermitLimits
  private total = 0
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Set<Waiter>()

  constructor(max: PermitLimits) {
    this.max = max
  }

  /**
   * Waits for a permit that counts under all given names. Returns a function that releases the
   * permit and must be called once. Returns null if too much work waits, if the time to wait has
   * passed or if `signal` was aborted.
   */
  async enter(names: readonly PermitName[], signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null
    if (this.isFree(names)) this.take(names)
    else if (!(await this.wait(names, signal))) return null
    return () => this.release(names)
  }

  private isFree(names: readonly PermitName[]): boolean {
    return this.total < this.max.total && !names.some((name) => this.isAtLimit(name))
  }

  /** Reports whether as much work runs under the name as may run at once. */
  isAtLimit({ name, max }: PermitName): boolean {
    return (this.taken.get(name) ?? 0) >= max
  }

  private take(names: readonly PermitName[]): void {
    this.total += 1
    for (const { name } of names) this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
  }

  private release(names: readonly PermitName[]): void {
    this.total -= 1
    for (const { name } of names) {
      const left = (this.taken.get(name) ?? 1) - 1
      if (left > 0) this.taken.set(name, left)
      else this.taken.delete(name)
    }
    const started: Waiter[] = []
    for (const waiter of this.waiting) {
      if (this.total >= this.max.total) break
      if (!this.isFree(waiter.names)) continue
      this.take(waiter.names)
      waiter.answer(true)
      started.push(waiter)
    }
    if (this.max.isRoundRobin === true) for (const { names } of started) this.moveToEnd(names)
  }

  /** Moves the work that waits under these names to the end of the queue. */
  private moveToEnd(names: readonly PermitName[]): void {
    for (const waiter of [...this.waiting]) {
      if (!names.some(({ name }) => isUnder(waiter, name))) continue
      this.waiting.delete(waiter)
      this.waiting.add(waiter)
    }
  }

  private async wait(names: readonly PermitName[], signal: AbortSignal): Promise<boolean> {
    const { waiting, waitingPerName, waitMs, isRoundRobin = false } = this.max
    const isFirst = isRoundRobin && names.every(({ name }) => this.waitingOf(name) === 0)
    if (this.waiting.size >= waiting && !isFirst) return false
    if (names.some(({ name }) => this.waitingOf(name) >= waitingPerName)) return false
    return new Promise((resolve) => {
      const giveUp = (): void => waiter.answer(false)
      const timer = waitMs === null ? undefined : setTimeout(giveUp, waitMs)
      const waiter: Waiter = {
        names,
        answer: (isGranted) => {
          this.waiting.delete(waiter)
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          resolve(isGranted)
        },
      }
      this.waiting.add(waiter)
      signal.addEventListener('abort', giveUp)
    })
  }

  private waitingOf(name: string): number {
    return [...this.waiting].filter((waiter) => isUnder(waiter, name)).length
  }
}

const isUnder = ({ names }: Waiter, name: string): boolean => names.some((one) => one.name === name)
