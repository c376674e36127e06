import type { FastifyRequest } from 'fastify'
import { principalOf } from '#infra/http/access.ts'
import type { Deps } from '../act.ts'
import { credentialsOf } from './credentials-of.ts'
import { recordsAt } from './passkey-record.ts'
import { siteOrNone } from './passkey-site.ts'

/** Whether the request's user could come in here by a passkey alone, leaving out one of them. */
export async function hasPasskeyAlone(
  deps: Deps,
  request: FastifyRequest,
  without?: number,
): Promise<boolean> {
  const site = await siteOrNone(deps, request)
  if (site === null) return false
  const { userId } = principalOf(request)
  const { passkeys } = await credentialsOf(deps, userId)
  const here = await recordsAt(deps.core.vault, userId, passkeys, site.id)
  return [...here].some(([id, { isUnlockable }]) => id !== without && isUnlockable)
}
