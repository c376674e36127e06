import type { Recorded } from '../shared/event.ts'

/** The rules that `applyToAudit` and `finishAudit` check. The README of this folder states each. */
export const RECORD_CHECKS = [
  'records',
  'positions',
  'revisions',
  'postings',
  'running-balances',
  'trial-balance',
  'prices',
  'charges',
  'call-ends',
  'leases',
  'redemptions',
  'orders',
  'grants',
] as const
export type RecordCheck = (typeof RECORD_CHECKS)[number]

/** A rule that does not hold. The place is null if no single event is meant. */
export type Finding<Check extends string = string> = {
  readonly check: Check
  readonly position: number | null
  readonly stream: string | null
  readonly revision: number | null
  readonly detail: string
}

/** The place of an event in the store. */
export type Place = Pick<Recorded, 'position' | 'stream' | 'revision'>

/** A place, a stream as a whole, or a position at which the event is missing. */
export type FindingPlace = Place | { readonly stream: string } | { readonly position: number }

export type CheckCount = {
  readonly check: string
  readonly count: number
  readonly findings: number
}

/** The findings that are kept for each check. The others are only counted. */
const KEPT_PER_CHECK = 20
const DETAIL_LENGTH_MAX = 300

/** Counts the checks that were made, and keeps the first findings of each. */
export class Findings {
  private readonly counts = new Map<string, { count: number; findings: number }>()
  private readonly kept: Finding[] = []

  /** Notes that a rule was checked `times` times. */
  checked(check: string, times = 1): void {
    this.countsOf(check).count += times
  }

  report(check: string, place: FindingPlace | null, detail: string): void {
    const counts = this.countsOf(check)
    counts.findings += 1
    if (counts.findings > KEPT_PER_CHECK) return
    const at: Partial<Place> = place ?? {}
    this.kept.push({
      check,
      position: at.position ?? null,
      stream: at.stream ?? null,
      revision: at.revision ?? null,
      detail: shortened(detail),
    })
  }

  /** Checks one rule, and reports `detail` if the rule does not hold. */
  expect(check: string, holds: boolean, place: FindingPlace | null, detail: () => string): void {
    this.checked(check)
    if (!holds) this.report(check, place, detail())
  }

  total(): number {
    return [...this.counts.values()].reduce((sum, { findings }) => sum + findings, 0)
  }

  list(): readonly Finding[] {
    return this.kept
  }

  summary(): CheckCount[] {
    return [...this.counts].map(([check, counts]) => ({ check, ...counts }))
  }

  private countsOf(check: string) {
    const existing = this.counts.get(check)
    if (existing !== undefined) return existing
    const added = { count: 0, findings: 0 }
    this.counts.set(check, added)
    return added
  }
}

const shortened = (detail: string): string =>
  detail.length > DETAIL_LENGTH_MAX ? `${detail.slice(0, DETAIL_LENGTH_MAX)}…` : detail
