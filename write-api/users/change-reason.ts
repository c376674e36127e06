import type { Sealed } from '#domain/shared/event.ts'
import { invalidField } from '#infra/http/faults.ts'
import type { Vault } from '#infra/vault/port.ts'

const NOT_EMPTY = { zh: '请填写原因', en: 'must say why' }

/**
 * Why somebody's group or quota is changed, sealed for the event. Scripts that know no such field
 * send none: then the event has none, and who reads it is told so. An empty one is refused.
 */
export async function sealedReason(
  vault: Vault,
  userId: number,
  reason: string | undefined,
): Promise<{ readonly note?: Sealed }> {
  if (reason === undefined) return {}
  const why = reason.trim()
  if (why === '') throw invalidField('reason', NOT_EMPTY)
  return { note: await vault.seal(userId, why) }
}
