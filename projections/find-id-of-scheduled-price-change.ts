import type { FactMeta } from '#domain/shared/event.ts'

/**
 * Returns the id of the scheduled price change that caused an event, or null for an immediate
 * change.
 */
export function scheduledChangeIdOf({ actor, cause }: FactMeta): number | null {
  const [, id] = /^price-change-([1-9]\d{0,14})$/.exec(cause ?? '') ?? []
  return actor === 'system:price-changes' && id !== undefined ? Number(id) : null
}
