import { codedError } from '../shared/coded-error.ts'
import type {
  BindIdentity,
  DropPasskeys,
  LoginMethod,
  UnbindIdentity,
  UserError,
} from './commands.ts'
import type { UserEvent } from './events.ts'
import type { UserRecord } from './state.ts'

type Outcome = readonly UserEvent[] | UserError

export function bindIdentity(command: BindIdentity, { userId, identities }: UserRecord): Outcome {
  const { provider, identityKey, identity, replaces } = command
  const bound = identities[provider] ?? null
  if (bound === identityKey) return []
  if (bound !== replaces) return codedError('IdentityChanged')
  return [{ type: 'IdentityBound', v: 1, data: { userId, provider, identityKey, identity } }]
}

export function unbindIdentity(command: UnbindIdentity, user: UserRecord): Outcome {
  const { provider, identityKey, enabledLoginMethods, expectedRemovedLoginMethods } = command
  const bound = user.identities[provider]
  if (bound === undefined) return []
  if (bound !== identityKey) return codedError('IdentityChanged')
  if (user.removedLoginMethods !== expectedRemovedLoginMethods) return codedError('WaysInChanged')
  const others = enabledLoginMethods.filter((way) => way !== provider)
  if (!hasLoginMethod(user, others)) return codedError('LastWayIn')
  return [{ type: 'IdentityUnbound', v: 1, data: { userId: user.userId, provider, identityKey } }]
}

/** Records the removal. The same append removes the passkeys from the credentials. */
export function dropPasskeys(
  { enabledLoginMethods, expectedRemovedLoginMethods }: DropPasskeys,
  user: UserRecord,
): Outcome {
  if (user.removedLoginMethods !== expectedRemovedLoginMethods) return codedError('WaysInChanged')
  if (!hasLoginMethod(user, enabledLoginMethods)) return codedError('LastWayIn')
  return [{ type: 'UserPasskeysGone', v: 1, data: { userId: user.userId } }]
}

const hasLoginMethod = (user: UserRecord, open: readonly LoginMethod[]): boolean =>
  open.some((way) => {
    if (way === 'passkey') return true
    return way === 'password' ? user.passwordRef !== null : user.identities[way] !== undefined
  })
