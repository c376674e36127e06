import type { Blame } from './attempt-outcome.ts'

/** The limits on failures at which a circuit opens. */
export type BreakerRule = {
  readonly isEnabled: boolean
  /** The number of consecutive failures that opens the circuit. */
  readonly failures: number
  /**
   * The percentage of failed calls that opens the circuit, once the time window contains at least
   * `rateCalls` calls.
   */
  readonly ratePercent: number
  readonly rateCalls: number
  readonly windowMs: number
}

const PARTS = 6

/**
 * Counts the failures of one circuit in a time window, and the successes since the first failure.
 */
class FailureWindow {
  private run = 0
  private failedAt = 0
  private readonly parts: { slot: number; well: number; failed: number }[] = []

  succeed(now: number, { windowMs }: BreakerRule): void {
    this.run = 0
    this.part(now, windowMs).well += 1
  }

  fail(now: number, { windowMs }: BreakerRule): void {
    if (now - this.failedAt > windowMs) this.run = 0
    this.run += 1
    this.failedAt = now
    this.part(now, windowMs).failed += 1
  }

  isLimitReached({ failures, ratePercent, rateCalls }: BreakerRule): boolean {
    if (this.run >= failures) return true
    const { failed, calls } = this.counts()
    return calls >= rateCalls && failed * 100 >= ratePercent * calls
  }

  /**
   * Returns the number of failures to report for an open circuit. These are the consecutive
   * failures if they reached the limit. Otherwise, these are all failures in the time window.
   */
  failuresBy({ failures }: BreakerRule): number {
    return this.run >= failures ? this.run : this.counts().failed
  }

  isOver(now: number, { windowMs }: BreakerRule): boolean {
    return now - this.failedAt > windowMs
  }

  private counts(): { failed: number; calls: number } {
    let failed = 0
    let calls = 0
    for (const part of this.parts) {
      failed += part.failed
      calls += part.failed + part.well
    }
    return { failed, calls }
  }

  private part(now: number, windowMs: number) {
    const slot = Math.floor((now * PARTS) / windowMs)
    while ((this.parts[0]?.slot ?? slot) <= slot - PARTS) this.parts.shift()
    const last = this.parts.at(-1)
    if (last !== undefined && last.slot >= slot) return last
    const part = { slot, well: 0, failed: 0 }
    this.parts.push(part)
    return part
  }
}

/** The circuit to open. If `model` is null, the circuit covers all models of the channel. */
type Trip = { readonly model: string | null; readonly failures: number }

type CallTarget = {
  readonly channelId: number
  readonly model: string
  readonly keyRef: string
}

type OfChannel = { readonly all: FailureWindow; readonly models: Map<string, FailureWindow> }

/**
 * Counts recent failures by channel and model. A channel without recent failures has no entry, so
 * recording a successful call costs only one look-up.
 */
export class FailureCounts {
  private readonly channels = new Map<number, OfChannel>()
  /** The failure counts by key reference, for channels with several keys. */
  private readonly keys = new Map<string, FailureWindow>()

  succeed({ channelId, model, keyRef }: CallTarget, now: number, rule: BreakerRule): void {
    if (this.keys.size > 0) this.succeedKey(keyRef, now, rule)
    const existing = this.channels.get(channelId)
    if (existing === undefined) return
    if (existing.all.isOver(now, rule)) {
      this.channels.delete(channelId)
      return
    }
    existing.all.succeed(now, rule)
    existing.models.get(model)?.succeed(now, rule)
  }

  /**
   * Counts a failure of a key. Returns the number of failures if the limit is reached; otherwise
   * null.
   */
  failKey(keyRef: string, now: number, rule: BreakerRule): number | null {
    const existing = this.keys.get(keyRef) ?? new FailureWindow()
    this.keys.set(keyRef, existing)
    existing.fail(now, rule)
    return existing.isLimitReached(rule) ? existing.failuresBy(rule) : null
  }

  forgetKey(keyRef: string): void {
    this.keys.delete(keyRef)
  }

  /**
   * Counts a failure of a channel and model. Returns the circuit to open, or null if no limit is
   * reached. `offersMore` is true if the channel also has models other than this one.
   */
  fail(
    channelId: number,
    { model, offersMore, blame }: { model: string; offersMore: boolean; blame: Blame },
    now: number,
    rule: BreakerRule,
  ): Trip | null {
    const existing = this.channels.get(channelId) ?? { all: new FailureWindow(), models: new Map() }
    this.channels.set(channelId, existing)
    const ofModel = existing.models.get(model) ?? new FailureWindow()
    existing.models.set(model, ofModel)
    existing.all.fail(now, rule)
    ofModel.fail(now, rule)
    const isWhole = blame === 'channel' || blame === 'key'
    if (blame !== 'model' && existing.all.isLimitReached(rule)) {
      const isModels = !isWhole && offersMore && this.isOnlyFailing(existing, model, now, rule)
      return { model: isModels ? model : null, failures: existing.all.failuresBy(rule) }
    }
    if (isWhole || !ofModel.isLimitReached(rule)) return null
    return { model: offersMore ? model : null, failures: ofModel.failuresBy(rule) }
  }

  /**
   * Deletes the failure counts of a model, or all counts of the channel if `model` is null.
   * Deleting a model's counts does not change the channel's counts. Together with later failures of
   * another model, the channel's counts can show that the channel itself fails.
   */
  forget(channelId: number, model: string | null): void {
    if (model === null) this.channels.delete(channelId)
    else this.channels.get(channelId)?.models.delete(model)
  }

  private succeedKey(keyRef: string, now: number, rule: BreakerRule): void {
    const existing = this.keys.get(keyRef)
    if (existing === undefined) return
    if (existing.isOver(now, rule)) this.keys.delete(keyRef)
    else existing.succeed(now, rule)
  }

  /**
   * Reports whether this model is the only one of the channel that failed recently. The model is
   * then the likely cause.
   */
  private isOnlyFailing(
    existing: OfChannel,
    model: string,
    now: number,
    rule: BreakerRule,
  ): boolean {
    for (const [name, tally] of existing.models) {
      if (name === model) continue
      if (!tally.isOver(now, rule)) return false
      existing.models.delete(name)
    }
    return true
  }
}
