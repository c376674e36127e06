/**
 * Channels (by id) and keys (by reference) whose provider asked to be left alone, until when (by
 * `performance.now()`). Known to this process alone, and short.
 */
export class Resting {
  private readonly untils = new Map<number | string, number>()

  put(who: number | string, until: number, now: number): void {
    for (const [known, over] of this.untils) if (over <= now) this.untils.delete(known)
    this.untils.set(who, until)
  }

  /** What its provider asked for is over: an admin says that it may be called again. */
  end(who: number | string): void {
    this.untils.delete(who)
  }

  get isNobody(): boolean {
    return this.untils.size === 0
  }

  /** Until when; 0: it does not rest. */
  untilOf(who: number | string, now: number): number {
    if (this.untils.size === 0) return 0
    const until = this.untils.get(who)
    if (until === undefined) return 0
    if (until > now) return until
    this.untils.delete(who)
    return 0
  }
}
