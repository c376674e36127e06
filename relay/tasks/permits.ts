/** How many may be under way in all, and how many may wait for that: in all, and of one name. */
export type SeatsMax = {
  readonly total: number
  readonly waiting: number
  readonly waitingOfName: number
  /** null: as long as it takes. */
  readonly waitMs: number | null
}

/** One of those that a place counts for, and how many it may have. */
export type PermitName = { readonly name: string; readonly max: number }

type Waiter = { readonly names: readonly PermitName[]; readonly answer: (isIn: boolean) => void }

/**
 * Places for what takes connections and time, in this process: nobody has more than a part of them.
 * Whoever comes first is next, but for those of a name that has all it may have.
 */
export class Permits {
  private readonly max: SeatsMax
  private total = 0
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Set<Waiter>()

  constructor(max: SeatsMax) {
    this.max = max
  }

  /** The place counts under each of these names; null: there is none. Call the answer once. */
  async enter(names: readonly PermitName[], gone: AbortSignal): Promise<(() => void) | null> {
    if (gone.aborted) return null
    if (this.isFree(names)) this.take(names)
    else if (!(await this.wait(names, gone))) return null
    return () => this.leave(names)
  }

  private isFree(names: readonly PermitName[]): boolean {
    if (this.total >= this.max.total) return false
    return names.every(({ name, max }) => (this.taken.get(name) ?? 0) < max)
  }

  private take(names: readonly PermitName[]): void {
    this.total += 1
    for (const { name } of names) this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
  }

  private leave(names: readonly PermitName[]): void {
    this.total -= 1
    for (const { name } of names) {
      const left = (this.taken.get(name) ?? 1) - 1
      if (left > 0) this.taken.set(name, left)
      else this.taken.delete(name)
    }
    for (const waiter of this.waiting) {
      if (this.total >= this.max.total) return
      if (!this.isFree(waiter.names)) continue
      this.take(waiter.names)
      waiter.answer(true)
    }
  }

  private async wait(names: readonly PermitName[], gone: AbortSignal): Promise<boolean> {
    const { waiting, waitingOfName, waitMs } = this.max
    if (this.waiting.size >= waiting) return false
    if (names.some(({ name }) => this.waitingOf(name) >= waitingOfName)) return false
    return new Promise((resolve) => {
      const giveUp = (): void => waiter.answer(false)
      const timer = waitMs === null ? undefined : setTimeout(giveUp, waitMs)
      const waiter: Waiter = {
        names,
        answer: (isIn) => {
          this.waiting.delete(waiter)
          clearTimeout(timer)
          gone.removeEventListener('abort', giveUp)
          resolve(isIn)
        },
      }
      this.waiting.add(waiter)
      gone.addEventListener('abort', giveUp)
    })
  }

  private waitingOf(name: string): number {
    return [...this.waiting].filter(({ names }) => names.some((one) => one.name === name)).length
  }
}
