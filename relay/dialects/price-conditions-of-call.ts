import { ratioOfCondition } from '#domain/pricing/price-conditions.ts'
import type { PriceCondition } from '#domain/pricing/usage.ts'
import { isMembers } from './read-common-request-members.ts'
import { type Member, scanObject } from './scan-request-object.ts'
import type { ChatRequest } from './wire-format.ts'

/**
 * The values of members that change a call's price, each with the price conditions that a call with
 * this value may have. A value can have several conditions, because an answer may name a cheaper
 * speed than the requested one.
 */
const CONDITIONS: ReadonlyMap<string, ReadonlyMap<string, readonly PriceCondition[]>> = new Map([
  [
    'service_tier',
    new Map<string, readonly PriceCondition[]>([
      ['"priority"', ['fast']],
      ['"fast"', ['fast']],
      ['"ultrafast"', ['ultrafast', 'fast']],
      ['"flex"', ['flex']],
    ]),
  ],
  [
    'speed',
    new Map<string, readonly PriceCondition[]>([
      ['"fast"', ['fast']],
      ['"standard"', []],
      ['null', []],
    ]),
  ],
  [
    'inference_geo',
    new Map<string, readonly PriceCondition[]>([
      ['"us"', ['us_inference']],
      ['"global"', []],
      ['null', []],
    ]),
  ],
])
const VALUE_BYTES_MAX = 32
const NONE: readonly PriceCondition[] = []

type Requested = Pick<ChatRequest, 'body' | 'members' | 'model' | 'format' | 'isStream'>

/**
 * Returns the price conditions that a member requests. Returns null if no price covers the member's
 * value.
 */
function conditionsOf(
  { body, model }: Requested,
  member: Member,
): readonly PriceCondition[] | null {
  const { key, valueStart, valueEnd } = member
  if (valueEnd - valueStart > VALUE_BYTES_MAX) return null
  const conditions = CONDITIONS.get(key)?.get(body.toString('latin1', valueStart, valueEnd))
  const [first] = conditions ?? []
  if (conditions === undefined) return null
  if (first !== undefined && ratioOfCondition(first, model) === undefined) return null
  return conditions.filter((name) => ratioOfCondition(name, model) !== undefined)
}

const MEMBERS = new Set([...CONDITIONS.keys()].map((key) => key.replaceAll('_', '')))

/**
 * Reports whether a member changes the price of the call in a way that no price covers. This
 * includes `background`, unless a response of the Responses API is streamed, because the usage
 * would stay unknown.
 */
export function isUnpricedCondition(request: Requested, member: Member): boolean {
  const { format, isStream } = request
  if (member.key === 'background') return format.name !== 'responses' || !isStream
  // No price covers a service tier in Anthropic's format.
  const isTier = member.key === 'service_tier' && format.name === 'messages'
  const isCondition = MEMBERS.has(member.folded.replaceAll(/[_-]/g, ''))
  return isCondition && (isTier || conditionsOf(request, member) === null)
}

/** Reports whether a request to the provider asks for Anthropic's fast mode. */
export const sendsFastMode = ({ body, members }: Pick<ChatRequest, 'body' | 'members'>): boolean =>
  members.some(
    ({ key, valueStart, valueEnd }) =>
      key === 'speed' && body.toString('latin1', valueStart, valueEnd) === '"fast"',
  )

/**
 * Reports whether the provider completes the response to this request even if the caller
 * disconnects.
 */
export const isInBackground = ({ format, members }: Pick<ChatRequest, 'format' | 'members'>) =>
  format.name === 'responses' &&
  members.some(({ key, kind }) => key === 'background' && kind === 'true')

/**
 * Returns the price conditions that a request asks for. Members for which `isAllowed` returns false
 * are ignored.
 */
export function requestedConditions(
  request: Requested,
  isAllowed: (member: string) => boolean,
): readonly PriceCondition[] {
  let requested = NONE
  for (const member of request.members) {
    if (!CONDITIONS.has(member.key) || !isAllowed(member.key)) continue
    if (isUnpricedCondition(request, member)) continue
    requested = [...requested, ...(conditionsOf(request, member) ?? NONE)]
  }
  // If two members request the same condition, it is listed once.
  return requested.length > 1 ? [...new Set(requested)] : requested
}

/** The words by which an answer states that it was served at the normal speed. */
const NORMAL: ReadonlySet<unknown> = new Set(['default', 'standard', 'on_demand'])
const SPEEDS: ReadonlyMap<unknown, PriceCondition> = new Map<unknown, PriceCondition>([
  ['priority', 'fast'],
  ['fast', 'fast'],
  ['ultrafast', 'ultrafast'],
  ['flex', 'flex'],
])

/** The conditions, such as the service tier, that an answer states. The values are not checked. */
type AnsweredConditions = {
  readonly serviceTier: unknown
  /** The speed in a usage in Anthropic's format. */
  readonly speed: unknown
  readonly inferenceGeo: unknown
}

/**
 * Returns the price conditions that are billed. Of the requested speeds, the one that the answer
 * states is billed, and none if the answer states the normal speed. If the answer states no known
 * speed, the requested speeds in `mostExpensive` are billed. A requested `us_inference` is billed
 * unless the answer states `global`.
 */
export function billedConditions(
  requested: readonly PriceCondition[],
  mostExpensive: readonly PriceCondition[],
  { serviceTier, speed: ofUsage, inferenceGeo }: AnsweredConditions,
): readonly PriceCondition[] {
  const named = ofUsage ?? serviceTier
  const speed = SPEEDS.get(named)
  const isSpeedKnown = speed !== undefined || NORMAL.has(named)
  const speeds = isSpeedKnown
    ? requested.filter((name) => name === speed)
    : mostExpensive.filter((name) => name !== 'us_inference' && requested.includes(name))
  const isUs = requested.includes('us_inference') && inferenceGeo !== 'global'
  return isUs ? [...speeds, 'us_inference'] : speeds
}

/**
 * The maximum length in bytes of an answer whose service tier is read. Reading a longer answer
 * would block the event loop.
 */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

/** Returns the service tier that a complete answer states. Returns null if it states none. */
export function serviceTierIn(answer: Buffer): string | null {
  const members = answer.length > ANSWER_BYTES_MAX ? [] : scanObject(answer)
  if (!isMembers(members)) return null
  const tier = members.find(({ key }) => key === 'service_tier')
  if (tier?.kind !== 'string' || tier.valueEnd - tier.valueStart > VALUE_BYTES_MAX) return null
  return answer.toString('latin1', tier.valueStart + 1, tier.valueEnd - 1)
}
