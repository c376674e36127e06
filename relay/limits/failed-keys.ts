import { RateWindows } from './rate-window.ts'

const LIMIT = { count: 60, periodMs: 60_000 }

/** Wrong keys by address: 60 a minute, so that guessing goes nowhere and costs nothing. */
export class FailedKeys {
  private readonly windows = new RateWindows()

  /** Seconds to wait; 0 when the address may try a key. */
  waitSeconds(clientIp: string, now: number): number {
    return Math.ceil(this.windows.of(clientIp).waitMs(LIMIT, now) / 1_000)
  }

  failed(clientIp: string, now: number): void {
    this.windows.of(clientIp).take(now)
  }

  sweep(now: number): void {
    this.windows.sweep(now, LIMIT.periodMs)
  }
}
