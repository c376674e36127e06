import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { PROJECTION_NAMES, schemaOf } from '../projection-names.ts'
import { PROJECTIONS } from '../projection-registry.ts'
import { definitionOf, readCheckpoints } from '../runner/checkpoints.ts'

const POLL_MS = 200
const LOG_EVERY_MS = 10_000
/** The time in milliseconds for which a detection of another release's read model remains valid. */
const DETECTION_VALID_MS = 60_000

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

/**
 * Returns a function that detects read models of another release. During an upgrade, such read
 * models can make queries fail. A detection remains valid for `DETECTION_VALID_MS`, because a
 * rebuild may end between the query and the check.
 */
export async function detectOtherReadModels({
  pg,
}: Pick<Core, 'pg'>): Promise<() => Promise<boolean>> {
  const isAnyOther = async (): Promise<boolean> => {
    const checkpoints = await readCheckpoints(pg).catch(() => null)
    if (checkpoints === null) return false
    return PROJECTIONS.some(
      (projection) => checkpoints.get(projection.name)?.definition !== definitionOf(projection),
    )
  }
  let otherUntil = Number.NEGATIVE_INFINITY
  const isOther = async (): Promise<boolean> => {
    if (await isAnyOther()) otherUntil = performance.now() + DETECTION_VALID_MS
    return performance.now() < otherUntil
  }
  await isOther()
  return isOther
}
