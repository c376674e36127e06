import type { Recorded } from '../shared/event.ts'

type Shape = (value: unknown) => boolean

const isInteger: Shape = Number.isSafeInteger
const isText: Shape = (value) => typeof value === 'string'
const isObject: Shape = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isPosting: Shape = (value) =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isInteger(value[1])
const isListOf =
  (isItem: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(isItem)

/** The shapes of the fields that the audit reads and that have one shape in all events. */
const SHAPES: Readonly<Record<string, Shape>> = {
  ...{ postings: isListOf(isPosting), userId: isInteger, tokenId: isInteger, orderId: isInteger },
  ...{ amount: (value: unknown) => typeof value === 'number', reward: isInteger },
  ...{ hold: isInteger, added: isInteger, charge: isInteger, fromBalance: isInteger },
  ...{ call: isText, usage: isObject, price: isObject, leaseUntil: isInteger },
}

/** The fields without which an event of a type cannot be audited. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  QuotaGranted: ['amount', 'grantId'],
  QuotaDeducted: ['amount', 'deductionId'],
  InviteRewarded: ['reward'],
  AffiliateTransferred: ['amount'],
  TopUpCredited: ['amount'],
  TopUpReversed: ['amount'],
  RebateEarned: ['amount'],
  RebateReversed: ['amount'],
  CallAdmitted: ['call', 'hold', 'price'],
  HoldRaised: ['call', 'added'],
  CallProgressed: ['call', 'usage'],
  CallSettled: ['call', 'hold', 'charge', 'usage', 'price'],
  CallReleased: ['call', 'hold'],
  CallInterrupted: ['call', 'hold', 'charge', 'usage', 'price'],
  ChargeCorrected: ['calls'],
}

/**
 * Returns the name of the first field of an event's data that is missing or has an unexpected
 * shape. Returns null if there is none that this function knows. Only the name is returned: the
 * value of a damaged field may be anything, such as personal data or a secret.
 */
export function invalidFieldOf({ type, data }: Pick<Recorded, 'type' | 'data'>): string | null {
  const fields = data as Readonly<Record<string, unknown>>
  const required = Object.hasOwn(REQUIRED, type) ? (REQUIRED[type] ?? []) : []
  const missing = required.find((name) => fields[name] === undefined || fields[name] === null)
  if (missing !== undefined) return missing
  const known = Object.entries(SHAPES).filter(([name]) => fields[name] !== undefined)
  return known.find(([name, isRight]) => !isRight(fields[name]))?.[0] ?? null
}
