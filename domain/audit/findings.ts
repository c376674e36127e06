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

export type FindingParams = Readonly<Record<string, string | number>>

/**
 * The result of a check that found a broken rule. `position`, `stream` and `revision` identify the
 * event that breaks the rule. They are null if the finding is not about a single event.
 */
export type Finding<Check extends string = string> = {
  readonly check: Check
  readonly position: number | null
  readonly stream: string | null
  readonly revision: number | null
  /** The English text of the finding. */
  readonly detail: string
  /**
   * The finding's code and params. The texts in all languages are made from these. Earlier releases
   * stored only `detail`.
   */
  readonly code?: string
  readonly params?: FindingParams
  /** Set if an admin acknowledged the finding, so that it is listed, but not counted. */
  readonly isAcknowledged?: true
}

/** Identifies an event in the store. */
export type Place = Pick<Recorded, 'position' | 'stream' | 'revision'>

/**
 * The subject of a finding: an event, a whole stream, or a position at which an event is missing.
 */
export type FindingPlace = Place | { readonly stream: string } | { readonly position: number }

export type CheckCount = {
  readonly check: string
  readonly count: number
  readonly findings: number
}

/**
 * The name of the check on witnesses. Its findings do not show whether the site's history or the
 * history that the witness signed is the right one.
 */
export const WITNESS_CHECK = 'witnesses'

type Counted = { readonly findingCount: number; readonly checks: readonly CheckCount[] }

/**
 * Counts the findings that are not about witnesses. If the count is 0, the next verification can
 * continue where this verification ended, even while a witness refuses to sign.
 */
export const countHistoryFindings = ({ findingCount, checks }: Counted): number =>
  findingCount - (checks.find(({ check }) => check === WITNESS_CHECK)?.findings ?? 0)

/**
 * The maximum number of findings that are kept for each code of each check. Additional findings are
 * only counted. The limit is for each code, so that many findings of one kind, such as lost tiles,
 * do not hide another kind, such as a changed event. The number of codes is bounded.
 */
const KEPT_PER_CODE = 20
/** The maximum length of a finding's text, and of each param that is text, in characters. */
export const TEXT_LENGTH_MAX = 300

/** Counts the checks that were made, and keeps the first findings of each code of each check. */
export class Findings {
  private readonly counts = new Map<string, { count: number; findings: number }>()
  private readonly kept: Finding[] = []
  private readonly keptOfCode = new Map<string, number>()

  /** Adds `times` to the number of times that a rule was checked. */
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
    this.countsOf(check).findings += 1
    if (this.isKept(check, code)) this.kept.push(findingAt(check, place, code, params))
  }

  /** Lists a finding that an admin acknowledged. The number of findings does not include it. */
  acknowledged(check: string, place: FindingPlace, { code, params }: CodedFinding): void {
    this.checked(check)
    if (!this.isKept(check, code)) return
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

  /** Counts one check of a rule. If `holds` is false, reports a finding with the code. */
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

  /** Returns the number of findings that are not about witnesses. */
  historyTotal(): number {
    return countHistoryFindings({ findingCount: this.total(), checks: this.summary() })
  }

  list(): readonly Finding[] {
    return this.kept
  }

  /**
   * Returns at most `max` of the kept findings, in their order. If more are kept, the first finding
   * of every code is selected before the second finding of any code.
   */
  first(max: number): readonly Finding[] {
    const turns = new Map<Finding, number>()
    const found = new Map<string, number>()
    for (const finding of this.kept) {
      const kind = `${finding.check} ${finding.code}`
      const turn = found.get(kind) ?? 0
      found.set(kind, turn + 1)
      turns.set(finding, turn)
    }
    const inTurn = this.kept.toSorted((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0))
    const selected = new Set(inTurn.slice(0, max))
    return this.kept.filter((finding) => selected.has(finding))
  }

  summary(): CheckCount[] {
    return [...this.counts].map(([check, counts]) => ({ check, ...counts }))
  }

  /**
   * Counts a finding of a code. Returns true if the finding is one of the first `KEPT_PER_CODE`
   * findings of its check and code.
   */
  private isKept(check: string, code: FindingCode): boolean {
    const kind = `${check} ${code}`
    const count = (this.keptOfCode.get(kind) ?? 0) + 1
    this.keptOfCode.set(kind, count)
    return count <= KEPT_PER_CODE
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

/**
 * Returns the text of a finding in a language. If this release does not know the finding's code,
 * returns the stored English text.
 */
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
 * Limits the length of params, because their values come from the verified events and can have any
 * length.
 */
function boundedParams(params: object): FindingParams {
  const bounded = Object.entries(params).map(([name, value]) => {
    return [name, Number.isFinite(value) ? value : shortened(String(value))] as const
  })
  return Object.fromEntries(bounded)
}
