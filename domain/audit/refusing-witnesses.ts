import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { RefusalAcknowledged, WitnessRefused } from './events.ts'

/** A witness that refused to sign, and what became of it. */
export type RefusingWitness = WitnessRefused['data'] & {
  /** Whether the admins were notified of it. */
  readonly isNotified: boolean
  /** When an admin acknowledged it, in unix milliseconds, or null. */
  readonly acknowledgedAt: number | null
}

/** A broken witness that names another size each time must not fill the history with refusals. */
const REFUSALS_PER_WITNESS_MAX = 10

export type RefusingWitnessCommand =
  | ({ readonly type: 'RecordRefusingWitness' } & WitnessRefused['data'])
  | ({ readonly type: 'AcknowledgeRefusingWitness' } & Omit<
      RefusalAcknowledged['data'],
      'witness' | 'size'
    >)

export type RefusingWitnessErrorCode = 'RefusalUnknown'

/**
 * A refusal of a witness is recorded once for each size that the witness has signed, and
 * acknowledged once. What is acknowledged makes room for new refusals of the witness.
 */
export function decideOnRefusingWitnesses(
  command: RefusingWitnessCommand,
  refusals: readonly RefusingWitness[],
): readonly (WitnessRefused | RefusalAcknowledged)[] | CodedError<RefusingWitnessErrorCode> {
  switch (command.type) {
    case 'RecordRefusingWitness': {
      const { type, ...data } = command
      const earlier = refusals.filter(({ witness }) => witness === data.witness)
      if (earlier.some(({ size }) => size === data.size)) return []
      const open = earlier.filter(({ acknowledgedAt }) => acknowledgedAt === null)
      if (open.length >= REFUSALS_PER_WITNESS_MAX) return []
      return [{ type: 'WitnessRefused', v: 1, data }]
    }
    case 'AcknowledgeRefusingWitness': {
      const { type, ...acknowledged } = command
      const refusal = refusals.find(({ id }) => id === acknowledged.id)
      if (refusal === undefined) return codedError('RefusalUnknown')
      if (refusal.acknowledgedAt !== null) return []
      const { witness, size } = refusal
      return [{ type: 'RefusalAcknowledged', v: 1, data: { ...acknowledged, witness, size } }]
    }
  }
}

export function withAcknowledged(
  refusals: readonly RefusingWitness[],
  { id, acknowledgedAt }: RefusalAcknowledged['data'],
): readonly RefusingWitness[] {
  return refusals.map((refusal) => (refusal.id === id ? { ...refusal, acknowledgedAt } : refusal))
}
