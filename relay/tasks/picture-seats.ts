/** How many may be under way, and how many may wait for that: in all, and of any one name. */
export type SeatsMax = {
  readonly total: number
  readonly ofName: number
  readonly waiting: number
  readonly waitingOfName: number
}

export const PICTURE_SEATS: SeatsMax = { total: 64, ofName: 6, waiting: 512, waitingOfName: 64 }

const WAIT_MS = 20_000

type Waiter = { readonly names: readonly string[]; readonly answer: (isIn: boolean) => void }

/**
 * Places for what takes connections and time, in this process: nobody has more than a few of them.
 * A page shows many pictures at once, so whoever is next waits a little.
 */
export class PictureSeats {
  private readonly max: SeatsMax
  private readonly waitMs: number
  private total = 0
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Set<Waiter>()

  constructor(max: SeatsMax = PICTURE_SEATS, waitMs: number = WAIT_MS) {
    this.max = max
    this.waitMs = waitMs
  }

  /** The place counts under each of these names; null: there is none. Call the answer once. */
  async enter(names: readonly string[], gone: AbortSignal): Promise<(() => void) | null> {
    if (gone.aborted) return null
    if (this.isFree(names)) this.take(names)
    else if (!(await this.wait(names, gone))) return null
    return () => this.leave(names)
  }

  private isFree(names: readonly string[]): boolean {
    const { total, ofName } = this.max
    return this.total < total && names.every((name) => (this.taken.get(name) ?? 0) < ofName)
  }

  private take(names: readonly string[]): void {
    this.total += 1
    for (const name of names) this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
  }

  private leave(names: readonly string[]): void {
    this.total -= 1
    for (const name of names) {
      const left = (this.taken.get(name) ?? 1) - 1
      if (left > 0) this.taken.set(name, left)
      else this.taken.delete(name)
    }
    for (const waiter of this.waiting) {
      if (!this.isFree(waiter.names)) continue
      this.take(waiter.names)
      waiter.answer(true)
    }
  }

  private async wait(names: readonly string[], gone: AbortSignal): Promise<boolean> {
    const { waiting, waitingOfName } = this.max
    const count = (name: string) => [...this.waiting].filter((one) => one.names.includes(name))
    if (this.waiting.size >= waiting) return false
    if (names.some((name) => count(name).length >= waitingOfName)) return false
    return new Promise((resolve) => {
      const giveUp = (): void => waiter.answer(false)
      const timer = setTimeout(giveUp, this.waitMs)
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
}
