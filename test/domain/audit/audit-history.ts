import { applyToAudit, finishAudit } from '#domain/audit/apply-events-to-audit.ts'
import { type Finding, Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'

export type InStream = { readonly stream: string; readonly fact: Fact; readonly at?: number }

/** Returns the events as a store would record them, one second apart unless a time is given. */
export function recordedHistory(facts: readonly InStream[]): Recorded[] {
  const revisions = new Map<string, number>()
  return facts.map(({ stream, fact, at }, index) => {
    const revision = revisions.get(stream) ?? 0
    revisions.set(stream, revision + 1)
    const { type, v, data } = JSON.parse(JSON.stringify(fact)) as Fact
    const meta = { actor: 'user:1', cause: null, at: at ?? 1_000 * (index + 1) }
    return { type, v, data, stream, revision, position: index + 1, id: `id-${index}`, meta }
  })
}

export function audit(events: readonly Recorded[], startedAfter = 0): Findings {
  const [state, findings] = [initialAudit({ startedAfter }), new Findings()]
  for (const event of events) applyToAudit(state, event, findings)
  finishAudit(state, findings)
  return findings
}

/** Returns each finding as `check at position`. */
export const placesOf = (findings: Findings): string[] =>
  findings.list().map(({ check, position }: Finding) => `${check} at ${position}`)
