import type { Sealed } from '#domain/shared/event.ts'
import { invalidField } from '#infra/http/faults.ts'
import type { Language } from '#infra/http/language.ts'
import type { Vault } from '#infra/vault/port.ts'

const NONE_GIVEN = { zh: '接口调用，未填写原因', en: 'API call, no reason given' }
const NOT_EMPTY = { zh: '请填写原因', en: 'must say why' }

/**
 * Why somebody's group or quota is changed, sealed for the event. Scripts that know no such field
 * send none: that is said in its place. An empty one is refused.
 */
export function sealedReason(
  vault: Vault,
  userId: number,
  reason: string | undefined,
  language: Language,
): Promise<Sealed> {
  const why = (reason ?? NONE_GIVEN[language]).trim()
  if (why === '') throw invalidField('reason', NOT_EMPTY)
  return vault.seal(userId, why)
}
