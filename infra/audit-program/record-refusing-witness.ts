import { randomUUID } from 'node:crypto'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM, type WitnessRefused } from '#domain/audit/events.ts'
import type { Core } from '../core-dependencies.ts'

export type RefusedCheckpoint = Omit<WitnessRefused['data'], 'id' | 'refusedAt'>

/**
 * Appends an event when a witness reports that it has signed a different history. The event
 * notifies the admins, and each later verification reports it. A line in the log alone could be
 * lost. A repeated refusal is recorded once.
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
