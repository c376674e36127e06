import type { Recorded } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { Findings } from './findings.ts'
import { type AuditState, isPartial } from './state.ts'

/**
 * The time in milliseconds within which both events of a movement must be written. The second event
 * is late if the store cannot append to several streams atomically and a process dies between the
 * two appends.
 */
const MATCH_WITHIN_MS = 300_000

/**
 * One of the two events that record the same transfer of quota: the event of the source (an order
 * or a redemption code), or the event of the account whose quota changes.
 */
export type MovementEvent = {
  readonly check: 'redemptions' | 'orders'
  /**
   * Identifies the movement, such as `order 7 refund 1`. The key begins with the kind of the
   * source. `movementName` translates the key.
   */
  readonly key: string
  readonly isSource: boolean
  readonly amount: Quota
  readonly isUpperBound?: boolean
}

/**
 * Pairs the event of a source with the event of the account, in any order. The first of the two is
 * remembered in `state` until the other follows. Reports a finding if the amounts contradict each
 * other, or if one of the two occurs twice before the other follows.
 */
export function matchMovement(
  state: AuditState,
  findings: Findings,
  event: Recorded,
  { check, key, isSource, amount, isUpperBound = false }: MovementEvent,
): void {
  const other = state.movements.get(key)
  if (other === undefined) {
    const { position, stream, revision } = event
    const { at } = event.meta
    state.movements.set(key, { position, stream, revision, isSource, amount, isUpperBound, at })
    return
  }
  if (other.isSource === isSource) {
    const { position } = other
    findings.report(check, event, 'MovementRepeated', { movement: key, position })
    return
  }
  state.movements.delete(key)
  const [source, credited] = isSource ? [amount, other.amount] : [other.amount, amount]
  const isBound = isSource ? isUpperBound : other.isUpperBound
  const isRight = isBound ? credited <= source : credited === source
  findings.expect(check, isRight, event, 'MovementDiffers', () => {
    return { movement: key, moved: credited, expected: source }
  })
}

/**
 * Reports the movements of which one event is missing. A movement is not reported if its second
 * event may still follow, may be omitted, or may be earlier than the audited events.
 */
export function reportUnmatchedMovements(state: AuditState, findings: Findings): void {
  for (const [key, movement] of state.movements) {
    if (movement.isSource && movement.isUpperBound) continue
    if (!movement.isSource && isPartial(state)) continue
    if (state.lastAt - movement.at <= MATCH_WITHIN_MS) continue
    const check = key.startsWith('redemption') ? 'redemptions' : 'orders'
    const code = movement.isSource ? 'AccountEventMissing' : 'SourceMissing'
    findings.report(check, movement, code, { movement: key })
  }
}
