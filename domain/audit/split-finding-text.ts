import type { TranslatedText } from '../shared/translated-text.ts'
import { type FindingCode, findingText, type ParamsOf } from './finding-texts.ts'
import { detailIn, type Finding, TEXT_LENGTH_MAX } from './findings.ts'

/**
 * A part of the text of a finding. A part of the kind `amount` has a value in quota units. A part
 * of the kind `call` or `user` has the id of a call or a user as its value.
 */
export type FindingPart = {
  readonly kind: 'text' | 'amount' | 'call' | 'user'
  readonly value: string
}

/** The names of the params of a code that are amounts. Only amounts can be bigints. */
type AmountsOf<Code extends FindingCode> = {
  [Name in keyof ParamsOf<Code>]: bigint extends ParamsOf<Code>[Name] ? Name : never
}[keyof ParamsOf<Code>]

type CodeWithAmounts = {
  [Code in FindingCode]: [AmountsOf<Code>] extends [never] ? never : Code
}[FindingCode]

/**
 * The params that are amounts. They are listed by code, because a param of the same name can be a
 * count in another code.
 */
const AMOUNTS: { readonly [Code in CodeWithAmounts]: Readonly<Record<AmountsOf<Code>, true>> } = {
  AmountNegative: { amount: true },
  PostingsUnbalanced: { sum: true },
  HeldNegative: { held: true },
  RewardsNegative: { rewards: true },
  BalanceDiffers: { recorded: true, expected: true },
  TrialBalanceNotZero: { sum: true },
  HoldDiffers: { hold: true, recorded: true },
  ReturnedHoldDiffers: { returned: true, hold: true },
  HoldOverdue: { hold: true },
  ChargeDiffers: { charge: true, expected: true },
  CorrectedChargeUnknown: { charge: true },
  CorrectedChargeDiffers: { corrected: true, expected: true },
  LineChargeDiffers: { charge: true },
  MovementDiffers: { moved: true, expected: true },
  CodeQuotaDiffers: { quota: true, expected: true },
  RefundsExceedPayment: { remaining: true },
  BalanceRowDiffers: { found: true, expected: true },
}

const REFERENCES: Readonly<Record<string, 'call' | 'user'>> = { call: 'call', userId: 'user' }

/** Characters of Unicode's private use area, which mark the places of params in a text. */
const [START, END] = ['\uE000', '\uE001']
const MARKS = new RegExp(`${START}(\\w+)${END}`)

/**
 * Splits the text of a finding into parts. The console can therefore show amounts in the site's
 * currency, and links to calls and users. The values of all parts, joined, are the text. If the
 * text can't be split, it is returned as one part.
 */
export function splitFindingText(
  language: keyof TranslatedText,
  finding: Pick<Finding, 'detail' | 'code' | 'params'>,
): FindingPart[] {
  const { code = '', params = {} } = finding
  const whole = detailIn(language, finding)
  const kinds = new Map(
    Object.keys(params).flatMap((name) => {
      const kind = kindOf(code, name, String(params[name]))
      return kind === null ? [] : [[name, kind] as const]
    }),
  )
  const marked = Object.fromEntries([...kinds.keys()].map((name) => [name, START + name + END]))
  const text = findingText(code, { ...params, ...marked })?.[language]
  // A split with one group returns the texts between the marks, and the names in the marks.
  const parts = (text ?? whole).split(MARKS).map((value, index): FindingPart => {
    const kind = index % 2 === 0 ? undefined : kinds.get(value)
    return kind === undefined ? { kind: 'text', value } : { kind, value: String(params[value]) }
  })
  const isComplete = parts.map(({ value }) => value).join('') === whole
  const isShort = whole.length <= TEXT_LENGTH_MAX
  if (!isComplete || !isShort) return [{ kind: 'text', value: whole }]
  return parts.filter(({ value }) => value !== '')
}

/**
 * Returns the kind of a param that is an amount or the id of a call or user. Returns null for
 * others.
 */
function kindOf(code: string, name: string, value: string): FindingPart['kind'] | null {
  if (Object.hasOwn(AMOUNTS, code)) {
    const isAmount = Object.hasOwn(AMOUNTS[code as CodeWithAmounts], name)
    if (isAmount) return /^-?\d{1,30}$/.test(value) ? 'amount' : null
  }
  if (!Object.hasOwn(REFERENCES, name)) return null
  const kind = REFERENCES[name] ?? null
  return kind === 'user' && !/^[1-9]\d{0,14}$/.test(value) ? null : kind
}
