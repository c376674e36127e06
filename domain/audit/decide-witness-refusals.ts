import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { RefusalAcknowledged, WitnessRefused } from './events.ts'

/** A refusal of a witness to sign, with the admins' reaction to it. */
export type RefusedCosignature = WitnessRefused['data'] & {
  /** True if the admins were notified of the refusal. */
  readonly isNotified: boolean
  /**
   * The time at which an admin acknowledged the refusal, in Unix milliseconds. Null if it is not
   * acknowledged.
   */
  readonly acknowledgedAt: number | null
}

/**
 * The maximum number of refusals of one witness that are not acknowledged. Without this limit, a
 * broken witness that reports a different size each time could fill the history with refusals.
 */
const REFUSALS_PER_WITNESS_MAX = 10

export type RefusedCosignatureCommand =
  | ({
      readonly type: 'RecordRefusedCosignature'
      /**
       * The ids of earlier refusals of the same history. An earlier refusal is of the same history
       * if the present log begins with the tree that the witness refused then, and also with the
       * largest tree that was later found to continue this refused tree.
       */
      readonly continued: readonly string[]
    } & WitnessRefused['data'])
  | ({ readonly type: 'AcknowledgeRefusedCosignature' } & Omit<
      RefusalAcknowledged['data'],
      'witness' | 'size' | 'refusedSize' | 'refusedRoot'
    >)

export type RefusedCosignatureErrorCode = 'RefusalUnknown'

/**
 * Decides on refusals. A refusal is identified by the witness, the size of the tree that the
 * witness has signed, and the history that the witness refuses. Each refusal is recorded once and
 * can be acknowledged once. A history to which events are appended remains the same history. If an
 * event is rewritten after the acknowledgement, the witness refuses another history and reports the
 * same size again. This counts as a new refusal, so that the admins are notified again.
 * Acknowledged refusals do not count towards `REFUSALS_PER_WITNESS_MAX`.
 */
export function decideRefusedCosignature(
  command: RefusedCosignatureCommand,
  refusals: readonly RefusedCosignature[],
): readonly (WitnessRefused | RefusalAcknowledged)[] | CodedError<RefusedCosignatureErrorCode> {
  switch (command.type) {
    case 'RecordRefusedCosignature': {
      const { type, continued, ...data } = command
      const earlier = refusals.filter(({ witness }) => witness === data.witness)
      const ofSize = earlier.filter(({ size }) => size === data.size)
      if (ofSize.some((refusal) => isSameHistory(refusal, data, continued))) return []
      const open = earlier.filter(({ acknowledgedAt }) => acknowledgedAt === null)
      if (open.length >= REFUSALS_PER_WITNESS_MAX) return []
      return [{ type: 'WitnessRefused', v: 1, data }]
    }
    case 'AcknowledgeRefusedCosignature': {
      const { type, ...acknowledged } = command
      const refusal = refusals.find(({ id }) => id === acknowledged.id)
      if (refusal === undefined) return codedError('RefusalUnknown')
      if (refusal.acknowledgedAt !== null) return []
      const { witness, size, refusedSize, refusedRoot } = refusal
      const refused = refusedRoot === undefined ? {} : { refusedSize, refusedRoot }
      const data = { ...acknowledged, witness, size, ...refused }
      return [{ type: 'RefusalAcknowledged', v: 1, data }]
    }
  }
}

/**
 * Reports whether the witness refused the same history in an earlier refusal. A refusal that an
 * earlier release recorded does not name the refused tree. Such a refusal applies to every history
 * until an admin acknowledges it.
 */
function isSameHistory(
  { id, refusedSize, refusedRoot, acknowledgedAt }: RefusedCosignature,
  refused: WitnessRefused['data'],
  continued: readonly string[],
): boolean {
  if (refusedRoot === undefined) return acknowledgedAt === null
  const isSameTree = refusedSize === refused.refusedSize && refusedRoot === refused.refusedRoot
  return isSameTree || continued.includes(id)
}

export function withAcknowledged(
  refusals: readonly RefusedCosignature[],
  { id, acknowledgedAt }: RefusalAcknowledged['data'],
): readonly RefusedCosignature[] {
  return refusals.map((refusal) => (refusal.id === id ? { ...refusal, acknowledgedAt } : refusal))
}
