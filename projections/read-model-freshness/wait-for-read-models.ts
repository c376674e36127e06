import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { PROJECTION_NAMES, schemaOf } from '../projection-names.ts'

const POLL_MS = 200
const LOG_EVERY_MS = 10_000

/**
 * Waits until a process with the role `projections` has created the read models in a new database.
 */
export async function waitForReadModels({ pg, log }: Pick<Core, 'pg' | 'log'>): Promise<void> {
  const schemas = PROJECTION_NAMES.map(schemaOf)
  for (let loggedAt = performance.now(); ; await delay(POLL_MS)) {
    const { rows } = await pg.query<{ schema: string }>(
      'select schema from unnest($1::text[]) schema where to_regnamespace(schema) is null',
      [schemas],
    )
    if (rows.length === 0) return
    if (performance.now() - loggedAt < LOG_EVERY_MS) continue
    loggedAt = performance.now()
    const missing = rows.map(({ schema }) => schema)
    log.warn(
      { missing },
      'waiting for read models: no process with the role projections has started',
    )
  }
}
