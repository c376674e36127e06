import type { Core } from '#infra/core-dependencies.ts'
import { PROJECTIONS } from '../projection-registry.ts'
import { definitionOf, readCheckpoints } from '../runner/checkpoints.ts'

/** The time in milliseconds for which a detection of another release's read model remains valid. */
const DETECTION_VALID_MS = 60_000

/**
 * Returns a function that detects read models of another release. During an upgrade, such read
 * models can make queries fail. A detection remains valid for `DETECTION_VALID_MS`, because a
 * rebuild may end after a query has failed, but before this function is called.
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
