import { randomUUID } from 'node:crypto'
import { auditJobsDecider } from '#domain/audit/decide.ts'
import { AUDIT_JOBS_STREAM, type WitnessRefused } from '#domain/audit/events.ts'
import type { Core } from '../core-dependencies.ts'

export type RefusedCheckpoint = Omit<WitnessRefused['data'], 'id' | 'refusedAt'>

/**
 * Records that a witness knows another history, as an event, so that the admins are notified of it
 * and each later verification finds it. A log line alone would be lost. A refusal that is repeated
 * is recorded once.
 */
export async function recordRefusingWitness(
  { actors, now }: Pick<Core, 'actors' | 'now'>,
  refused: RefusedCheckpoint,
): Promise<void> {
  const at = now()
  const command = {
    ...({ type: 'RecordRefusingWitness', id: randomUUID() } as const),
    ...{ ...refused, refusedAt: at },
  }
  const context = { actor: 'system:audit', cause: null, at }
  await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
}
