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
 * The maximum number of refusals of one witness that are not acknowledged. It prevents a broken
 * witness that names another size each time from filling the history with refusals.
 */
const REFUSALS_PER_WITNESS_MAX = 10

export type RefusedCosignatureCommand =
  | ({
      readonly type: 'RecordRefusedCosignature'
      /**
       * The ids of earlier refusals that are of the same history: the log begins with the tree of
       * the refusal, and with the last tree that the witness refused as its continuation.
       */
      readonly continued: readonly string[]
    } & WitnessRefused['data'])
  | ({ readonly type: 'AcknowledgeRefusedCosignature' } & Omit<
      RefusalAcknowledged['data'],
      'witness' | 'size' | 'refusedSize' | 'refusedRoot'
    >)

export type RefusedCosignatureErrorCode = 'RefusalUnknown'

/**
 * A refusal of a witness is recorded once for each size that the witness has signed and each
 * history of this site that it refuses, and acknowledged once. A history that grows stays the same
 * one. If any of its events is rewritten after an acknowledgement, the witness still names the same
 * size, and the admins must learn of it. What is acknowledged makes room for new refusals of the
 * witness.
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
 * Returns whether an earlier refusal is of the history that is refused now. One of an earlier
 * release does not name its tree: it stands for every history until it is acknowledged.
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
