import type { Recorded } from '../shared/event.ts'
import type { TranslatedText } from '../shared/translated-text.ts'
import {
  type CodedFinding,
  type FindingCode,
  findingOf,
  findingText,
  type ParamsOf,
  type PlainCode,
} from './finding-texts.ts'

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

export type FindingParams = Readonly<Record<string, string | number>>

/** A rule that does not hold. The place is null if the finding is not about a single event. */
export type Finding<Check extends string = string> = {
  readonly check: Check
  readonly position: number | null
  readonly stream: string | null
  readonly revision: number | null
  /** The English sentence of the code. */
  readonly detail: string
  /** The code and its params in the catalogue of texts. Earlier releases stored only `detail`. */
  readonly code?: string
  readonly params?: FindingParams
  /** Set if an admin acknowledged what was found, so that it is listed, but not counted. */
  readonly isAcknowledged?: true
}

/** The place of an event in the store. */
export type Place = Pick<Recorded, 'position' | 'stream' | 'revision'>

/** The place of a finding: an event, a whole stream, or a position at which an event is missing. */
export type FindingPlace = Place | { readonly stream: string } | { readonly position: number }

export type CheckCount = {
  readonly check: string
  readonly count: number
  readonly findings: number
}

/** The check whose findings are about other sites: none of them shows which history is right. */
export const WITNESS_CHECK = 'witnesses'

type Counted = { readonly findingCount: number; readonly checks: readonly CheckCount[] }

/**
 * Counts the findings about this site's own history. A verification without any can be continued
 * by the next one, also while a witness refuses to sign.
 */
export const countHistoryFindings = ({ findingCount, checks }: Counted): number =>
  findingCount - (checks.find(({ check }) => check === WITNESS_CHECK)?.findings ?? 0)

/** The findings that are kept for each check. The others are only counted. */
const KEPT_PER_CHECK = 20
/** The maximum length of a sentence, and of each param that is text. */
const TEXT_LENGTH_MAX = 300

/** Counts the checks that were made, and keeps the first findings of each. */
export class Findings {
  private readonly counts = new Map<string, { count: number; findings: number }>()
  private readonly kept: Finding[] = []

  /** Counts that a rule was checked `times` times. */
  checked(check: string, times = 1): void {
    this.countsOf(check).count += times
  }

  report(check: string, place: FindingPlace | null, code: PlainCode): void
  report<Code extends FindingCode>(
    check: string,
    place: FindingPlace | null,
    code: Code,
    params: ParamsOf<Code>,
  ): void
  report(check: string, place: FindingPlace | null, code: FindingCode, params: object = {}): void {
    const counts = this.countsOf(check)
    counts.findings += 1
    if (counts.findings <= KEPT_PER_CHECK) this.kept.push(findingAt(check, place, code, params))
  }

  /** Lists a finding that an admin acknowledged. It is not counted as one. */
  acknowledged(check: string, place: FindingPlace, { code, params }: CodedFinding): void {
    this.checked(check)
    const listed = this.kept.filter((one) => one.check === check && one.isAcknowledged)
    if (listed.length >= KEPT_PER_CHECK) return
    this.kept.push({ ...findingAt(check, place, code, params), isAcknowledged: true })
  }

  /** Reports a finding that already has a code and params. */
  reportCoded(check: string, place: FindingPlace | null, { code, params }: CodedFinding): void {
    this.report(check, place, code, params)
  }

  /** Reports an error that ended a check. */
  reportError(check: string, place: FindingPlace | null, error: unknown): void {
    this.reportCoded(check, place, findingOf(error))
  }

  /** Counts one check of a rule, and reports the finding if there is one. */
  expectNone(check: string, place: FindingPlace | null, finding: CodedFinding | null): void {
    this.checked(check)
    if (finding !== null) this.reportCoded(check, place, finding)
  }

  /** Counts one check of a rule, and reports the code if the rule does not hold. */
  expect(check: string, holds: boolean, place: FindingPlace | null, code: PlainCode): void
  expect<Code extends FindingCode>(
    check: string,
    holds: boolean,
    place: FindingPlace | null,
    code: Code,
    params: () => ParamsOf<Code>,
  ): void
  expect(
    check: string,
    holds: boolean,
    place: FindingPlace | null,
    code: FindingCode,
    params: () => unknown = noParams,
  ): void {
    this.checked(check)
    if (!holds) this.report(check, place, code, params() as ParamsOf<FindingCode>)
  }

  total(): number {
    return [...this.counts.values()].reduce((sum, { findings }) => sum + findings, 0)
  }

  /** The number of findings about this site's own history. */
  historyTotal(): number {
    return countHistoryFindings({ findingCount: this.total(), checks: this.summary() })
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

function findingAt(
  check: string,
  place: FindingPlace | null,
  code: FindingCode,
  params: object,
): Finding {
  const at: Partial<Place> = place ?? {}
  const bounded = boundedParams(params)
  return {
    check,
    position: at.position ?? null,
    stream: at.stream ?? null,
    revision: at.revision ?? null,
    detail: shortened(findingText(code, bounded)?.en ?? code),
    code,
    params: bounded,
  }
}

/** Returns what a finding says in a language. A code of another release is told in English. */
export function detailIn(
  language: keyof TranslatedText,
  { detail, code, params = {} }: Pick<Finding, 'detail' | 'code' | 'params'>,
): string {
  const text = code === undefined ? null : findingText(code, params)
  return text === null ? detail : shortened(text[language])
}

const noParams = (): object => ({})

const shortened = (text: string): string =>
  text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text

/**
 * Limits the length of params. They come from the verified events, so a text can have any length.
 */
function boundedParams(params: object): FindingParams {
  const bounded = Object.entries(params).map(([name, value]) => {
    return [name, Number.isFinite(value) ? value : shortened(String(value))] as const
  })
  return Object.fromEntries(bounded)
}
